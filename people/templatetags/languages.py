from django import template

from people.languages import own_name

register = template.Library()
register.filter("own_name", own_name)
