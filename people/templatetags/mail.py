from django import template

from people.queries import mail_status

register = template.Library()
register.filter("mail_state", mail_status.describe)
register.simple_tag(lambda: not mail_status.has_mail_server(), name="no_mail_server")
