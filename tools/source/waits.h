/* waits.h: the kinds of what is waited for. */
#ifndef WAIT_H
#define WAIT_H

#include "source.h"

enum wait { W_LOAD_GLOBAL, W_LOAD_LOCAL, W_LOAD_SHARED, W_ATOMIC, W_ATOMIC_SHARED,
	W_TEXTURE, W_MBARRIER, W_TENSOR_MEMORY, W_SHUFFLE, W_SPECIAL, W_SPECIAL_REGISTER,
	W_CONSTANT, W_CONVERSION, W_NONE };
enum wait wait_of_producer(const char *text);

#endif
