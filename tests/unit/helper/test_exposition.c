// SPDX-License-Identifier: GPL-2.0-only
/* metrics/exposition.c: the same metrics in Prometheus' text format and as OpenMetrics. */
#include <math.h>
#include <stdlib.h>

#include "metrics/exposition.h"
#include "unit.h"

static const struct label_pair device[] = { { "device", "nc" }, { NULL, NULL } };
static const struct label_pair odd[] = {
	{ "device", "nc" }, { "label", "a \"b\" \\ c\nd" }, { NULL, NULL },
};
static const struct label_pair none[] = { { NULL, NULL } };

static void assert_text(bool openmetrics, const char *expected)
{
	struct exposition e = { .openmetrics = openmetrics };
	char *text = NULL;
	size_t bytes;

	e.file = open_memstream(&text, &bytes);
	exposition_family(&e, METRIC_COUNTER, "hit_bytes", "bytes", "bytes \\ that\nhit");
	exposition_value(&e, device, 9007199254740991.0);
	exposition_value(&e, odd, 0);
	exposition_family(&e, METRIC_GAUGE, "blocks", "", "how many \"blocks\"");
	exposition_value(&e, none, 0.5);
	exposition_family(&e, METRIC_INFO, "device", "", "a device");
	exposition_value(&e, device, 1);
	exposition_family(&e, METRIC_HISTOGRAM, "latency_seconds", "seconds", "latency");
	exposition_bucket(&e, device, 0.001024, 3);
	exposition_bucket(&e, device, INFINITY, 4);
	exposition_sum(&e, device, 0.25, 4);
	exposition_end(&e);
	fclose(e.file);
	assert_string_equal(text, expected);
	free(text);
}

static void prometheus(void **state)
{
	(void)state;
	assert_text(false,
		    "# HELP nearcache_hit_bytes_total bytes \\\\ that\\nhit\n"
		    "# TYPE nearcache_hit_bytes_total counter\n"
		    "nearcache_hit_bytes_total{device=\"nc\"} 9007199254740991\n"
		    "nearcache_hit_bytes_total{device=\"nc\",label=\"a \\\"b\\\" \\\\ c\\nd\"} 0\n"
		    "# HELP nearcache_blocks how many \"blocks\"\n"
		    "# TYPE nearcache_blocks gauge\n"
		    "nearcache_blocks 0.5\n"
		    "# HELP nearcache_device_info a device\n"
		    "# TYPE nearcache_device_info gauge\n"
		    "nearcache_device_info{device=\"nc\"} 1\n"
		    "# HELP nearcache_latency_seconds latency\n"
		    "# TYPE nearcache_latency_seconds histogram\n"
		    "nearcache_latency_seconds_bucket{device=\"nc\",le=\"0.001024\"} 3\n"
		    "nearcache_latency_seconds_bucket{device=\"nc\",le=\"+Inf\"} 4\n"
		    "nearcache_latency_seconds_sum{device=\"nc\"} 0.25\n"
		    "nearcache_latency_seconds_count{device=\"nc\"} 4\n");
}

static void openmetrics(void **state)
{
	(void)state;
	assert_text(true,
		    "# HELP nearcache_hit_bytes bytes \\\\ that\\nhit\n"
		    "# TYPE nearcache_hit_bytes counter\n"
		    "# UNIT nearcache_hit_bytes bytes\n"
		    "nearcache_hit_bytes_total{device=\"nc\"} 9007199254740991\n"
		    "nearcache_hit_bytes_total{device=\"nc\",label=\"a \\\"b\\\" \\\\ c\\nd\"} 0\n"
		    "# HELP nearcache_blocks how many \\\"blocks\\\"\n"
		    "# TYPE nearcache_blocks gauge\n"
		    "nearcache_blocks 0.5\n"
		    "# HELP nearcache_device a device\n"
		    "# TYPE nearcache_device info\n"
		    "nearcache_device_info{device=\"nc\"} 1\n"
		    "# HELP nearcache_latency_seconds latency\n"
		    "# TYPE nearcache_latency_seconds histogram\n"
		    "# UNIT nearcache_latency_seconds seconds\n"
		    "nearcache_latency_seconds_bucket{device=\"nc\",le=\"0.001024\"} 3\n"
		    "nearcache_latency_seconds_bucket{device=\"nc\",le=\"+Inf\"} 4\n"
		    "nearcache_latency_seconds_sum{device=\"nc\"} 0.25\n"
		    "nearcache_latency_seconds_count{device=\"nc\"} 4\n"
		    "# EOF\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prometheus),
		cmocka_unit_test(openmetrics),
	};

	return RUN(tests);
}
