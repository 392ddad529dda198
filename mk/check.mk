# make test: every tests/*.t speaks TAP; prove reads it.
.PHONY: test accept lint sanitize
test: all
	prove -j 2 tests/*.t

# make accept: the present outputs become the expected ones; read git diff after.
accept: all
	NS_ACCEPT=1 prove tests/*.t
