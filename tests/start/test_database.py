import pytest
from django.db import connection


@pytest.mark.django_db
def test_tests_run_on_a_postgres_of_their_own() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('fsync'), current_database()")
        assert cursor.fetchone()[1].startswith("test_emic")
    assert "pool" not in connection.settings_dict["OPTIONS"] or not connection.settings_dict["OPTIONS"]["pool"]
