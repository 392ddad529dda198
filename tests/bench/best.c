/*
 * best: the least CPU seconds and the greatest peak memory of N runs.
 *
 *	best N COMMAND...	"0.263 3276": seconds, KiB; its output is dropped
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static double
seconds(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void
run(char **argv, double *cpu, long *kib)
{
	struct rusage u;
	int status, null;
	pid_t pid = fork();

	if (pid == 0) {
		if ((null = open("/dev/null", O_WRONLY)) == -1 || dup2(null, 1) == -1)
			err(2, "/dev/null");
		execvp(argv[0], argv);
		err(2, "%s", argv[0]);
	}
	if (pid == -1 || wait4(pid, &status, 0, &u) == -1)
		err(2, "%s", argv[0]);
	if (status != 0)
		errx(2, "%s failed", argv[0]);
	*cpu = seconds(u.ru_utime) + seconds(u.ru_stime);
	*kib = u.ru_maxrss;
}

int
main(int argc, char *argv[])
{
	double least = 1e9, cpu;
	long most = 0, kib;

	if (argc < 3)
		errx(2, "usage: best N COMMAND...");
	for (int n = atoi(argv[1]); n > 0; n--) {
		run(argv + 2, &cpu, &kib);
		least = cpu < least ? cpu : least;
		most = kib > most ? kib : most;
	}
	printf("%.3f %ld\n", least, most);
	return 0;
}
