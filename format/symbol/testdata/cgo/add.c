#include "add.h"

volatile int sink;

static inline __attribute__((always_inline)) int add(int a, int b) {
	sink = a;
	return a * 7 + b;
}

int add_twice(int a, int b) {
	sink = b;
	int once = add(a, b);
	return add(once, sink);
}
