# Tatami as an image: the executable on a Debian that has what it needs (glibc, libstdc++6, and util-linux for the jail of plugins).
#   docker build -t tatami .
#   docker run --rm -v tatami:/var/lib/tatami tatami init --workspace Acme --team ENG    # prints the first key
#   docker run -d --name tatami -p 127.0.0.1:4700:4700 -v tatami:/var/lib/tatami tatami
# docs/operations/install.md says more.
FROM --platform=$BUILDPLATFORM node:24-trixie-slim AS build
WORKDIR /src
COPY . .
RUN npx -y bun@1.4.5 install --frozen-lockfile
ARG TARGETARCH
RUN target="linux-$([ "$TARGETARCH" = arm64 ] && echo arm64 || echo x64)" \
 && node_modules/.bin/bun build/main.ts --target "$target" --out /out \
 && mv "/out/tatami-$target" /out/tatami

FROM debian:trixie-slim
RUN useradd --uid 10001 --home-dir /var/lib/tatami --shell /usr/sbin/nologin tatami \
 && install -d -o tatami -g tatami -m 0700 /var/lib/tatami /var/cache/tatami
COPY --from=build --chmod=0755 /out/tatami /usr/local/bin/tatami
ENV TATAMI_DATA_DIR=/var/lib/tatami \
    TATAMI_CACHE_DIR=/var/cache/tatami \
    TATAMI_HOST=0.0.0.0
USER tatami
# Unpacks what plugins run in, so that the image can be run read-only, and fails here where it would not run.
RUN ["tatami", "version", "--verify"]
VOLUME /var/lib/tatami
EXPOSE 4700
STOPSIGNAL SIGTERM
# Whether the process answers. What /readyz finds (a full disk, an old backup) is no better after a restart.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["tatami", "health", "--live"]
ENTRYPOINT ["tatami"]
CMD ["serve"]
