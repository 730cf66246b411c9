# make run    build morula and serve a cell on a directory
# make test   all tests; ends in `N passed, N failed`
# make lint   clang-tidy over everything; `make test` has core, invariants, sim and prod
# make asan   the tests under AddressSanitizer and UndefinedBehaviorSanitizer, production's too
# make sweep  the long simulations behind the figures of the README
STORE ?= file:./data
LISTEN ?= 127.0.0.1:4437

.PHONY: run test lint asan sweep
run:
	scripts/packages run
	MORULA_TESTS=OFF scripts/build release morula
	@printf '\nFirst steps, in another terminal:\n%s\n%s\n%s\n\n' \
	  "  curl -i -X PUT  http://$(LISTEN)/v1/stream/hello -H 'Content-Type: text/plain'" \
	  "  curl -i -X POST http://$(LISTEN)/v1/stream/hello -H 'Content-Type: text/plain' -d 'first words'" \
	  "  curl -i         http://$(LISTEN)/v1/stream/hello"
	build/release/prod/morula serve --store $(STORE) --listen $(LISTEN) --no-auth

test:
	scripts/packages test
	tests/run

lint:
	scripts/packages test
	tests/lint clang-tidy

asan:
	scripts/packages test
	tests/run asan

sweep:
	scripts/packages run
	MORULA_TESTS=OFF scripts/build release morula-sim
	build/release/sim/morula-sim sweep --seeds 0..20000
	build/release/sim/morula-sim mutants
