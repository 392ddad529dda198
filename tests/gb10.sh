# shellcheck shell=sh
# Captures of a GB10 by arithmetic; sourced after tap.sh.

# The raw page of ncu, a row a range: lines of "RANGE METRIC UNIT VALUE", the
# metrics in the same order for each range.  Thousands as ncu writes them.
raw_csv() {
	awk '
	function thousands(x,	s) {
		s = sprintf("%.0f", x)
		while (match(s, /[0-9][0-9][0-9][0-9](,|$)/))
			s = substr(s, 1, RSTART) "," substr(s, RSTART + 1)
		return s
	}
	!($1 in cells) { range[++n] = $1 }
	{ cells[$1] = cells[$1] ",\"" thousands($4) "\"" }
	n == 1 { head = head ",\"" $2 "\""; unit = unit "," ($3 == "\"\"" ? $3 : "\"" $3 "\"") }
	END {
		print "==PROF== Connected to process 7 (/usr/bin/ns-worker)"
		printf "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\","
		print "\"Kernel Name\",\"Context\",\"Stream\",\"Device\",\"CC\"" head
		print "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"" unit
		for (i = 1; i <= n; i++)
			print "\"" i - 1 "\",\"7\",\"ns-worker\",\"127.0.0.1\",\"7  \"\"nsbench:" range[i] ":none:none:none:none:none:none\"\"\",\"range\",\"1\",\"n/a\",\"0\",\"12.1\"" cells[range[i]]
	}'
}
# range NAME READ WRITE [DEVICE]: tier 1 of the registry, with these sectors missed
# in L2.  Of the rest: 1000 reads hit L2; the SMs look 4000 sectors up in L1 and
# find 1000, for which 3000 come from L2 (1000 if there are few); 10 sectors come
# from other SMs and 5 go there; all else is TMA.
range() {
	loads=$(($2 < 2000 ? 900 : 2900))
	while read -r metric unit value; do echo "$1 $metric.sum $unit $value"; done <<END
gpu__time_duration ns 5000000
smsp__inst_executed inst 1000
l1tex__t_sectors_pipe_lsu_mem_local_op_ld sector 3
l1tex__t_sectors_pipe_lsu_mem_local_op_st sector 2
l1tex__data_pipe_lsu_wavefronts_mem_shared inst 500
smsp__bytes_mem_shared_cmd_read byte 48000
l1tex__t_sectors sector 4000
l1tex__t_sectors_lookup_hit sector 1000
l1tex__t_sectors_lookup_miss sector 3000
l1tex__m_xbar2l1tex_read_sectors sector $(($2 + 1000 + 10))
l1tex__m_xbar2l1tex_read_sectors_mem_lg_op_ld sector $loads
l1tex__m_xbar2l1tex_read_sectors_mem_global_op_ldgsts_cache_access sector 100
l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld sector $(($2 + 1000 - loads - 100))
l1tex__m_xbar2l1tex_read_sectors_mem_dshared sector 10
l1tex__m_l1tex2xbar_write_sectors_realtime sector $(($3 + 5))
l1tex__m_l1tex2xbar_write_sectors_mem_dshared sector 5
lts__t_sectors_op_read sector $(($2 + 1000))
lts__t_sectors_op_write sector $3
lts__t_sectors sector $(($2 + 1000 + $3))
lts__t_sectors_lookup_hit sector 1000
lts__t_sectors_lookup_miss sector $(($2 + $3))
lts__t_sectors_aperture_sysmem_op_read_lookup_miss sector $2
lts__t_sectors_aperture_sysmem_op_write_lookup_miss sector $3
lts__t_sectors_aperture_sysmem_lookup_miss sector $(($2 + $3 + 7))
lts__d_sectors_fill_sysmem sector $2
lts__t_sectors_aperture_device_lookup_miss sector ${4-0}
lts__t_sectors_aperture_peer_lookup_miss sector 0
sm__ops_path_tensor_src_bf16_dst_fp32 "" 3000000
sm__ops_path_tensor_src_fp16_dst_fp32 "" 0
sm__ops_path_tensor_src_fp8_dst_fp32 "" 0
sm__ops_path_tensor_src_fp4_dst_fp32 "" 500000
sm__ops_path_tensor_src_int8 "" 0
sm__pipe_tensor_cycles_active cycle 480000
sm__cycles_elapsed cycle 480000
END
}
