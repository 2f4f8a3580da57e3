from annotation.fields.form import OptionForm

FORM = OptionForm(options="points")
