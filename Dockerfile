# fuelbridge as an image: compiled code, production dependencies, an ordinary user.
#
# packaging/docker/compose.yaml runs it with all that it needs and nothing more.
#
# The root file system may be read only: all that is written is in the state folder and in the folders that are
# exchanged with the ERP.

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json tsconfig.types.json ./
COPY packaging/deb.ts ./packaging/
COPY src ./src
COPY connectors ./connectors
COPY mappings ./mappings
# What `fuelbridge init` starts from.
COPY config ./config
# The program as the Debian package has it, without a Node: the image has its own.
RUN node packaging/deb.ts --program /program

FROM node:24-bookworm-slim
# Short-lived garbage may not spread over 64 MB, as it would by default, nor each thread keep a heap of its own.
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=4 \
    MALLOC_ARENA_MAX=2 \
    FUELBRIDGE_CONFIG=/etc/fuelbridge/fuelbridge.yaml
WORKDIR /opt/fuelbridge
# No package-lock.json here: beside one, the launcher would install.
COPY --from=build /program ./
COPY LICENSE ./
# `exec`, so that signals reach the daemon. The state is its user's alone, and a new volume takes that over.
RUN printf '#!/bin/sh\nexec node /opt/fuelbridge/dist/src/main.js "$@"\n' > /usr/local/bin/fuelbridge \
    && chmod 0755 /usr/local/bin/fuelbridge \
    && install -d -o node -g node -m 0700 /var/lib/fuelbridge
USER node
VOLUME /var/lib/fuelbridge
STOPSIGNAL SIGTERM
# Healthy is a daemon that answers. 503 says that people have something to decide, which no restart would change.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["node", "-e", "const { port } = JSON.parse(require('node:fs').readFileSync('/var/lib/fuelbridge/admin.json', 'utf8')); fetch('http://127.0.0.1:' + port + '/healthz', { signal: AbortSignal.timeout(8000) }).then(({ status }) => process.exit(status === 200 || status === 503 ? 0 : 1), () => process.exit(1));"]
ENTRYPOINT ["fuelbridge"]
CMD ["run"]
