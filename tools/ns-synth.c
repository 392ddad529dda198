/*
 * ns-synth: a checkpoint of any shape, with seeded weights, for who has no
 * real one at hand.
 *
 * in   a model's shape as settings, in the names of model.kv
 * out  a Hugging Face directory: config.json, safetensors, an index if sharded
 */
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "synth/synth.h"

enum { OPT_DTYPE = 256, OPT_SHARD };

static const struct opt opts[] = {
	{ 's', "seed", "N", "of the weights; otherwise the settings' seed, or 1" },
	{ OPT_DTYPE, "dtype", "TYPE", "f32, f16 or bf16; otherwise the settings'" },
	{ OPT_SHARD, "shard-bytes", "N", "the most data a file (5000000000)" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-synth",
	.purpose = "a checkpoint of a given shape, with seeded weights",
	.operands = "FILE DIR",
	.in = "FILE: name=value in the names of model.kv; - is standard input",
	.out = "DIR: config.json, safetensors files, and their index if there are several",
	.example = "yaml2kv configs/models/tiny.yaml | ns-synth - build/tiny",
	.opts = opts,
};

/* Settings that are known here and do not shape the model. */
static bool
known_key(const char *key)
{
	static const char *const others[] = { "hf_repo", "n_tensors", "n_files",
	    "tensor_bytes", "n_parameters", "synthetic", "fingerprint" };

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strcmp(key, others[i]) == 0)
			return true;
	return arch_has_key(key);
}

static void
read_settings(struct arch *a, const char *path)
{
	struct kv kv = { 0 };

	kv_read(&kv, path);
	for (size_t i = 0; i < kv.n; i++)
		if (!known_key(kv.key[i]))
			errx(NS_TROUBLE, "%s: '%s' is no setting of a model", path,
			    kv.key[i]);
	arch_read(a, &kv);
	if (kv_get(&kv, "seed") == NULL)
		a->seed = 1;
	a->synthetic = true;
	kv_free(&kv);
}

static char *
arch_text(const struct arch *a)
{
	struct out o = { 0 };
	char *text;
	size_t len;

	if ((o.fp = open_memstream(&text, &len)) == NULL)
		err(NS_TROUBLE, "open_memstream");
	arch_write(a, &o);
	if (fclose(o.fp) != 0)
		err(NS_TROUBLE, "open_memstream");
	return text;
}

/* What was asked for is what a reader finds: a family cannot say everything. */
static void
check(const struct arch *a, const char *dir)
{
	char *want = arch_text(a), *got, *w, *g;
	struct checkpoint c;

	checkpoint_open(&c, dir);
	got = arch_text(&c.arch);
	if (strcmp(want, got) != 0) {
		for (w = want, g = got; *w == *g; w++, g++)
			;
		while (w > want && w[-1] != '\n')
			w--;
		errx(NS_TROUBLE, "a %s cannot have %.*s", a->architecture,
		    (int)strcspn(w, "\n"), w);
	}
	free(want);
	free(got);
	checkpoint_close(&c);
}

/* Is it there already, made with these very parameters? */
static bool
is_made(const struct arch *a, const char *dir, const char *config)
{
	char *path = xasprintf("%s/config.json", dir);
	size_t want = strlen(config), got;
	char *text = xalloc(want + 2, 1);
	FILE *fp = fopen(path, "r");

	if (fp == NULL && errno == ENOENT && access(dir, F_OK) != 0) {
		free(text);
		free(path);
		return false;
	}
	got = fp != NULL ? fread(text, 1, want + 1, fp) : 0;
	if (got != want || memcmp(text, config, want) != 0)
		errx(NS_TROUBLE, "%s: is there, and was not made with these "
		    "parameters: remove it, or name another directory", dir);
	fclose(fp);
	check(a, dir);
	free(text);
	free(path);
	return true;
}

/* Everything in dir, which holds only files. */
static void
empty(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;

	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL)
		if (*e->d_name != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
}

/* The temporary directory, ours alone until we end. */
static void
claim(const char *part)
{
	int fd;

	if (mkdir(part, 0777) != 0 && errno != EEXIST)
		err(NS_TROUBLE, "%s", part);
	if ((fd = open(part, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		err(NS_TROUBLE, "%s", part);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		err(NS_TROUBLE, "%s: another ns-synth is writing it", part);
	empty(part);
}

/* Wait for the child; a signal to us ends it too. Returns that signal, or 0. */
static int
wait_for(pid_t child, const sigset_t *signals, int *status)
{
	int sig, ended_by = 0;

	for (;;) {
		sigwait(signals, &sig);
		if (sig != SIGCHLD) {
			ended_by = sig;
			kill(child, SIGKILL);
		} else if (waitpid(child, status, WNOHANG) == child)
			return ended_by;
	}
}

/*
 * The work is a child's, so that whatever ends it, a full disk or a signal,
 * its parent is there to leave nothing behind.
 */
static void
make(const struct arch *a, uint64_t shard_bytes, const char *config,
    const char *dir)
{
	char *part = xasprintf("%s.part", dir);
	sigset_t signals, old;
	int sig, status;
	pid_t child, self = getpid();

	claim(part);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &signals, &old);
	if ((child = fork()) == -1)
		err(NS_TROUBLE, "fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			exit(NS_TROUBLE);
		sigprocmask(SIG_SETMASK, &old, NULL);
		synth_write(a, shard_bytes, config, part);
		check(a, part);
		exit(NS_OK);
	}
	sig = wait_for(child, &signals, &status);
	if (sig == 0 && WIFEXITED(status) && WEXITSTATUS(status) == NS_OK &&
	    rename(part, dir) == 0) {
		free(part);
		return;
	}
	if (sig == 0 && WIFSIGNALED(status))
		warnx("%s: %s", part, strsignal(WTERMSIG(status)));
	else if (sig == 0 && WEXITSTATUS(status) == NS_OK)
		warn("%s", dir);
	empty(part);
	rmdir(part);
	if (sig != 0) {
		raise(sig);
		sigprocmask(SIG_SETMASK, &old, NULL);
	}
	exit(NS_TROUBLE);
}

int
main(int argc, char *argv[])
{
	uint64_t shard_bytes = 5000000000, seed = UINT64_MAX;
	enum dtype dtype = DT_COUNT;
	struct arch a;
	char *dir, *config;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 's':
			seed = opt_count("seed", optarg);
			break;
		case OPT_DTYPE:
			if (!dtype_parse(optarg, &dtype))
				errx(NS_TROUBLE, "--dtype: '%s' is not known", optarg);
			break;
		case OPT_SHARD:
			shard_bytes = opt_count("shard-bytes", optarg);
			break;
		}
	if (argc - optind != 2)
		tool_usage(&tool);
	read_settings(&a, argv[optind]);
	if (seed != UINT64_MAX)
		a.seed = seed;
	if (dtype != DT_COUNT)
		a.dtype = dtype;
	if (a.dtype != DT_F32 && a.dtype != DT_F16 && a.dtype != DT_BF16)
		errx(NS_TROUBLE, "dtype %s: f32, f16 or bf16 was expected",
		    a.dtype == DT_COUNT ? "is not set" : dtype_name(a.dtype));
	if (a.seed > INT64_MAX || shard_bytes == 0)
		errx(NS_TROUBLE, "seed or shard-bytes: out of range");
	dir = argv[optind + 1];
	while (strlen(dir) > 1 && dir[strlen(dir) - 1] == '/')
		dir[strlen(dir) - 1] = '\0';
	config = synth_config(&a, shard_bytes);
	if (is_made(&a, dir, config))
		warnx("%s: is there, made with these parameters", dir);
	else
		make(&a, shard_bytes, config, dir);
	free(config);
	return NS_OK;
}
