from django import template

from people.locales.languages import native_name

register = template.Library()
register.filter("own_name", native_name)
