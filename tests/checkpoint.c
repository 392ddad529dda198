/*
 * checkpoint: what a worker does with a checkpoint, for checkpoint.t: map it,
 * find every tensor by its role, and add up the bytes of each.
 */
#include <err.h>

#include "checkpoint.h"

int
main(int argc, char *argv[])
{
	struct checkpoint c;

	if (argc != 2)
		errx(NS_TROUBLE, "usage: checkpoint DIR");
	checkpoint_open(&c, argv[1]);
	if (arch_unsupported(&c.arch) != NULL)
		errx(NS_TROUBLE, "%s: %s", argv[1], arch_unsupported(&c.arch));
	checkpoint_map(&c);
	for (size_t i = 0; i < c.n_tensors; i++) {
		const struct tensor *t = &c.tensor[i];
		const unsigned char *p = checkpoint_data(&c, t);
		unsigned long long sum = 0;

		if (t->role != ROLE_OTHER && (checkpoint_find(&c, t->role,
		    t->layer, t->expert) != t || strcmp(tensor_name(&c.arch,
		    t->role, t->layer, t->expert), t->name) != 0))
			errx(NS_TROUBLE, "%s: not found by its role", t->name);
		for (uint64_t b = 0; b < t->bytes; b++)
			sum += p[b];
		printf("%s\t%d\t%llu\n", t->name, (int)((uintptr_t)p %
		    (dtype_bits(t->dtype) / 8)), sum);
	}
	if (checkpoint_find(&c, ROLE_EXPERT_UP, 4000, 4000) != NULL ||
	    checkpoint_find(&c, ROLE_OTHER, -2, 0) != NULL)
		errx(NS_TROUBLE, "found what is not there");
	for (uint64_t i = 0; i < c.arch.n_layers; i++)
		printf("layer\t%d\t%llu\n", arch_layer_is_moe(&c.arch, i),
		    (unsigned long long)arch_window(&c.arch, i));
	checkpoint_close(&c);
	return NS_OK;
}
