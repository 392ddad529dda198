/*
 * work-rows N: a work table of N kernels, 455 to a graph launch, in which a kernel
 * takes 4 us and the next follows after 0.1 us, as a small model's decode looks.
 */
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char *argv[])
{
	static const char *const name[] = { "rms_norm_f32", "quantize_q8_1",
	    "mul_mat_vec_q", "rope_norm", "flash_attn_vec_ext_f32", "k_bin_bcast" };
	long n = argc > 1 ? atol(argv[1]) : 0, t = 1365725779, launch = 0;

	puts("start_ns\tend_ns\tkind\tdevice\tpid\tstream\tlaunch_ns\tlaunch_id\t"
	    "graph_launch_id\tphase\tstep\tname\tgrid\tblock\tregisters\t"
	    "shared_bytes\tbytes");
	for (long i = 0; i < n; i++) {
		long id = 4267 + i / 455 * 55;

		if (i % 455 == 0) {
			launch = t - 4000;
			t += 800000;
		}
		printf("%ld\t%ld\tkernel\t0\t4069\t14\t%ld\t%ld\t%ld\tNA\tNA\t%s\t"
		    "1x1x1\t1024x1x1\t18\t128\tNA\n", t, t + 4000, launch, id, id,
		    name[i % 6]);
		t += 4100;
	}
	return 0;
}
