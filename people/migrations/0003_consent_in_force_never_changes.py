from django.db import migrations


class Migration(migrations.Migration):
    """The database itself refuses to change what people agree to. FOR SHARE waits for a publication under way."""

    dependencies = [("people", "0002_links_know_their_cohort")]
    operations = [
        migrations.RunSQL(
            sql="""
            CREATE FUNCTION people_consent_text_is_kept() RETURNS trigger LANGUAGE plpgsql AS
            $$
            DECLARE published timestamptz;
            BEGIN
                IF TG_OP <> 'INSERT' THEN
                    SELECT published_at INTO published FROM people_consentversion WHERE id = OLD.version_id FOR SHARE;
                    IF published IS NOT NULL THEN RAISE EXCEPTION 'a consent text in force never changes'; END IF;
                END IF;
                IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
                SELECT published_at INTO published FROM people_consentversion WHERE id = NEW.version_id FOR SHARE;
                IF published IS NOT NULL THEN RAISE EXCEPTION 'a consent text in force never changes'; END IF;
                RETURN NEW;
            END
            $$;
            CREATE TRIGGER people_consent_text_kept BEFORE INSERT OR UPDATE OR DELETE ON people_consenttext
            FOR EACH ROW EXECUTE FUNCTION people_consent_text_is_kept();
            CREATE FUNCTION people_consent_version_is_kept() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'a consent version in force never changes'; END $$;
            CREATE TRIGGER people_consent_version_kept BEFORE UPDATE OR DELETE ON people_consentversion
            FOR EACH ROW WHEN (OLD.published_at IS NOT NULL) EXECUTE FUNCTION people_consent_version_is_kept();
            """,
            reverse_sql="""
            DROP TRIGGER people_consent_version_kept ON people_consentversion;
            DROP FUNCTION people_consent_version_is_kept();
            DROP TRIGGER people_consent_text_kept ON people_consenttext;
            DROP FUNCTION people_consent_text_is_kept();
            """,
        )
    ]
