# Emic on a server: packages are built in one stage, and the second holds only what runs, under an account of its own.
FROM python:3.12-slim-bookworm AS packages
WORKDIR /emic
COPY requirements/base.txt requirements/base.txt
RUN python -m venv .venv && .venv/bin/pip install --no-cache-dir --require-hashes -r requirements/base.txt

FROM python:3.12-slim-bookworm
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin emic \
    && mkdir -p /data/tmp /static && chown -R emic:emic /data /static
WORKDIR /emic
COPY --from=packages /emic/.venv .venv
COPY . .
# Translations and code are compiled here, since the site's own account cannot write beside them.
RUN .venv/bin/python -m config.catalogues && .venv/bin/python -m compileall -q -x '\.venv' .
# Uploads pass through TMPDIR, which must be on the disk of the images and not in memory.
ENV PATH=/emic/.venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 TMPDIR=/data/tmp EMIC_INSTALLED=1 \
    EMIC_DATA=/data EMIC_STATIC=/static EMIC_BIND=0.0.0.0:8000 DJANGO_SETTINGS_MODULE=config.settings
USER emic
# The static files belong to the image, so that a new version never serves an old one's.
RUN EMIC_DB_POOL=0 python manage.py collectstatic --no-input -v 0
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=6s --start-period=60s CMD ["python", "deploy/healthy.py"]
ENTRYPOINT ["deploy/entrypoint"]
CMD ["web"]
