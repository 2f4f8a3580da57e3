from django import template

from people.locales.languages import draft_text_names, has_draft_texts, interface_names, native_name

register = template.Library()
register.filter("own_name", native_name)
register.filter("draft_texts", draft_text_names)
register.filter(has_draft_texts)
register.simple_tag(interface_names)
