/* mapping.c: the data of a checkpoint's files, and the end of one. */
#include <sys/mman.h>
#include <sys/stat.h>

#include <err.h>
#include <fcntl.h>
#include <unistd.h>

#include "checkpoint.h"

/*
 * Tensors lie aligned in a file whose header is a multiple of 8, as all new
 * ones are.  A file that is not is read to where they are aligned.
 */
static void *
read_aligned(const char *path, int fd, uint64_t size, uint64_t shift)
{
	char *p = mmap(NULL, size + shift, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(NS_TROUBLE, "%s", path);
	for (uint64_t at = 0; at < size;) {
		ssize_t got = read(fd, p + shift + at, size - at);

		if (got < 0)
			err(NS_TROUBLE, "%s", path);
		if (got == 0)
			errx(NS_TROUBLE, "%s: changed while it was read", path);
		at += (uint64_t)got;
	}
	warnx("%s: its header is no multiple of 8 bytes: read, not mapped", path);
	return p + shift;
}

static uint64_t
shift_of(const struct checkpoint *c, size_t file)
{
	for (size_t i = 0; i < c->n_tensors; i++)
		if (c->tensor[i].file == file)
			return -c->tensor[i].offset % 8;
	return 0;
}

void
checkpoint_map(struct checkpoint *c)
{
	c->map = xalloc(c->n_files, sizeof *c->map);
	c->fd = xalloc(c->n_files, sizeof *c->fd);
	for (size_t i = 0; i < c->n_files; i++) {
		char *path = xasprintf("%s/%s", c->dir, c->file[i]);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		uint64_t size = c->file_bytes[i], shift = shift_of(c, i);
		struct stat st;

		if (fd == -1 || fstat(fd, &st) != 0)
			err(NS_TROUBLE, "%s", path);
		if ((uint64_t)st.st_size != size)
			errx(NS_TROUBLE, "%s: changed while it was read", path);
		c->map[i] = shift != 0 ? read_aligned(path, fd, size, shift) :
		    mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (c->map[i] == MAP_FAILED)
			err(NS_TROUBLE, "%s", path);
		if (shift != 0) {
			close(fd);
			fd = -1;
		}
		c->fd[i] = fd;
		free(path);
	}
}

const void *
checkpoint_data(const struct checkpoint *c, const struct tensor *t)
{
	const char *p = (const char *)c->map[t->file] + t->offset;
	unsigned align = dtype_bits(t->dtype) / 8;

	if (align > 1 && (uintptr_t)p % align != 0)
		errx(NS_TROUBLE, "%s/%s: tensor '%s' is not aligned to its "
		    "%u-byte elements: save the checkpoint again", c->dir,
		    c->file[t->file], t->name, align);
	return p;
}

void
checkpoint_close(struct checkpoint *c)
{
	struct tensor_list list = { .n = c->n_tensors, .tensor = c->tensor };

	for (size_t i = 0; i < c->n_files; i++) {
		if (c->map != NULL) {
			uint64_t shift = shift_of(c, i);

			munmap((char *)(uintptr_t)c->map[i] - shift,
			    c->file_bytes[i] + shift);
			if (c->fd[i] != -1)
				close(c->fd[i]);
		}
		free(c->file[i]);
	}
	tensor_list_free(&list);
	free(c->map);
	free(c->fd);
	free(c->by_role);
	free(c->file);
	free(c->file_bytes);
	free(c->dir);
	*c = (struct checkpoint){ 0 };
}
