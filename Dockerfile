# convladder as an image: docker build -t convladder . See docs/use/ci.md.
# The first stage makes the Debian package, the second has nothing but it.
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /convladder
# The packages first: they change less often than the sources.
COPY scripts/setup.sh scripts/setup.sh
RUN scripts/setup.sh --package && rm -rf /var/lib/apt/lists/*
COPY . .
RUN CONVLADDER_NO_SETUP=1 scripts/package.sh && mv build/convladder_*.deb /convladder.deb

FROM debian:12-slim
COPY --from=build /convladder.deb /tmp/convladder.deb
# git checks out what a duel compares, g++ and make build it: for other languages build on this image.
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/convladder.deb ca-certificates g++ git make python3 && rm -rf /var/lib/apt/lists/* /tmp/convladder.deb
RUN convladder --version
CMD ["convladder", "--help"]
