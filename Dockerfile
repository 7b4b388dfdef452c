# The page (`mahrem serve`) or a node of a federation (`mahrem federate join`), as a user without rights.
#   docker build -t mahrem .            docker build --build-arg EXTRAS=web,federated,learning,sign -t mahrem-node .
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY docs docs
COPY native native
COPY src src
RUN python -m pip install --no-cache-dir build==1.5.1 \
    && python -m build --wheel --outdir /wheels

FROM python:3.13-slim
ARG EXTRAS=web,excel,sql,sign
RUN useradd --create-home --uid 10001 mahrem
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir "$(ls /wheels/*.whl)[${EXTRAS}]" \
    && rm -rf /wheels
USER mahrem
WORKDIR /home/mahrem
# Run records, keys and projects: keep them on a volume that only this container reads.
ENV MAHREM_STATE=/home/mahrem/state
VOLUME /home/mahrem/state
EXPOSE 8321
ENTRYPOINT ["mahrem"]
CMD ["serve", "--help"]
