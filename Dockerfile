# docker build -t slanted .
# docker run --rm -v "$PWD:/data" --user "$(id -u)" slanted run left.png right.png -o out
FROM python:3.13-slim

# Kernels are compiled here, once, and used by whoever runs the image; another type of processor compiles again.
ENV NUMBA_CACHE_DIR=/var/cache/slanted

WORKDIR /src
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir '.[opencv,demo,viewer]'

WORKDIR /data
RUN mkdir -p /var/cache/slanted && slanted warmup && chmod -R a+rwX /var/cache/slanted /data
ENTRYPOINT ["slanted"]
CMD ["demo"]
