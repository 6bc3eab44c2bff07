# One image for web and workers, from the lock in requirements/. torch is the public index's, which on Linux is a CUDA build of
# several gigabytes; where no GPU worker is wanted, build with --build-arg TORCH_INDEX=<an index of CPU wheels>.
FROM python:3.11-slim AS base
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OMP_WAIT_POLICY=passive PIP_NO_CACHE_DIR=1
RUN useradd --create-home --uid 1000 palate && mkdir -p /data /home/palate/.cache/huggingface \
    && chown -R palate /data /home/palate
WORKDIR /app
COPY requirements ./requirements
ARG TORCH_INDEX=""
ARG INSTALL="pip install --require-hashes --no-deps --no-build-isolation"
# Triton compiles a kernel for the card that it finds, with a C compiler.
RUN if [ -z "$TORCH_INDEX" ]; then apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*; fi
RUN $INSTALL -r requirements/build.txt \
    && if [ -n "$TORCH_INDEX" ]; then $INSTALL --index-url "$TORCH_INDEX" -r requirements/torch-cpu.txt; \
       else $INSTALL -r requirements/torch.txt; fi \
    && $INSTALL -r requirements/app.txt
COPY . .
# What lies here may be read by its owner alone, as a strict umask makes it; the image's user is another one.
RUN chmod -R a+rX . && SECRET_KEY=of-no-use-but-to-collect-static-files ALLOWED_HOSTS=none \
    DATABASE_URL=sqlite:////tmp/none.sqlite3 PALATE_VAR=/tmp/var python manage.py collectstatic --no-input
USER palate
ARG COMMIT=""
ENV PALATE_COMMIT=$COMMIT PALATE_VAR=/data TRITON_CACHE_DIR=/data/triton
EXPOSE 8000
CMD ["gunicorn", "-c", "config/gunicorn.py", "--bind", "0.0.0.0:8000"]
