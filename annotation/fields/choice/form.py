from annotation.fields.form import OptionForm

FORM = OptionForm(options="options", many="many")
