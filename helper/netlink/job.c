// SPDX-License-Identifier: GPL-2.0-only
/* Submit, query and cancel prefetch jobs of a device. */
#include <netlink/genl/genl.h>
#include <string.h>

#include "lib/error.h"
#include "netlink/client.h"
#include "netlink/request.h"

/* Bytes that a piece, which is a range of a job, takes in a request. */
#define PIECE_ROOM	32U

static uint32_t number_of(struct nlattr *const *tb, int type)
{
	return tb[type] ? nla_get_u32(tb[type]) : 0;
}

static uint64_t bytes_of(struct nlattr *const *tb, int type)
{
	return tb[type] ? nla_get_u64(tb[type]) : 0;
}

/* Returns false if the message has no job. */
static bool parse_job(struct nl_msg *msg, struct nl_job *job)
{
	struct nlattr *tb[NEARCACHE_A_DEVICE_MAX + 1];
	struct nlattr *in[NEARCACHE_A_JOB_MAX + 1];

	if (genlmsg_parse(nlmsg_hdr(msg), 0, tb, NEARCACHE_A_DEVICE_MAX, NULL) ||
	    !tb[NEARCACHE_A_DEVICE_JOB] ||
	    nla_parse_nested(in, NEARCACHE_A_JOB_MAX,
			     tb[NEARCACHE_A_DEVICE_JOB], NULL))
		return false;
	memset(job, 0, sizeof(*job));
	job->id = number_of(in, NEARCACHE_A_JOB_ID);
	if (in[NEARCACHE_A_JOB_LABEL])
		nla_strlcpy(job->label, in[NEARCACHE_A_JOB_LABEL],
			    sizeof(job->label));
	job->label_hidden = !in[NEARCACHE_A_JOB_LABEL];
	job->state = number_of(in, NEARCACHE_A_JOB_STATE);
	job->priority = number_of(in, NEARCACHE_A_JOB_PRIORITY);
	job->deadline = number_of(in, NEARCACHE_A_JOB_DEADLINE);
	job->bandwidth = bytes_of(in, NEARCACHE_A_JOB_BANDWIDTH);
	job->bytes = bytes_of(in, NEARCACHE_A_JOB_BYTES);
	job->fetched = bytes_of(in, NEARCACHE_A_JOB_FETCHED);
	job->present = bytes_of(in, NEARCACHE_A_JOB_PRESENT);
	job->left = bytes_of(in, NEARCACHE_A_JOB_LEFT);
	job->flying = bytes_of(in, NEARCACHE_A_JOB_FLYING);
	job->peer = in[NEARCACHE_A_JOB_PEER_DEV];
	return true;
}

static int on_job(struct nl_msg *msg, void *arg)
{
	parse_job(msg, arg);
	return NL_OK;
}

static int put_pieces(struct nl_msg *msg, const struct range *range,
		      size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct nlattr *nest = nla_nest_start(msg,
						     NEARCACHE_A_DEVICE_RANGE);

		if (!nest ||
		    nla_put_u64(msg, NEARCACHE_A_RANGE_START, range[i].start) ||
		    nla_put_u64(msg, NEARCACHE_A_RANGE_LENGTH, range[i].length))
			return -1;
		nla_nest_end(msg, nest);
	}
	return 0;
}

static int put_wishes(struct nl_msg *msg, const struct nl_job *wishes)
{
	struct nlattr *nest = nla_nest_start(msg, NEARCACHE_A_DEVICE_JOB);

	if (!nest ||
	    nla_put_string(msg, NEARCACHE_A_JOB_LABEL, wishes->label) ||
	    nla_put_u32(msg, NEARCACHE_A_JOB_PRIORITY, wishes->priority) ||
	    nla_put_u32(msg, NEARCACHE_A_JOB_DEADLINE, wishes->deadline) ||
	    nla_put_u64(msg, NEARCACHE_A_JOB_BANDWIDTH, wishes->bandwidth) ||
	    (wishes->peer_fd &&
	     nla_put_u32(msg, NEARCACHE_A_JOB_PEER_FD, (uint32_t)wishes->peer_fd)))
		return -1;
	nla_nest_end(msg, nest);
	return 0;
}

/*
 * Start a job that fetches ranges into the cache.
 * @wishes: label, priority, deadline, bandwidth and peer_fd of the job.
 * @range: in the order of fetching; @count is not 0.
 * @id: result: number of the job.
 */
int nl_job_submit(dev_t number, const struct nl_job *wishes,
		  const struct range *range, size_t count, uint32_t *id)
{
	struct nl_job job = { 0 };
	struct nl_msg *msg;

	if (count > NL_JOB_PIECES_MAX)
		return fail(CODE_DEVICE,
			    "%zu pieces are more than the %u that a job can have: name fewer files, or less fragmented ones",
			    count, NL_JOB_PIECES_MAX);
	msg = nl_request(NEARCACHE_CMD_JOB_SUBMIT, 0, number,
			 count * PIECE_ROOM + 2 * NEARCACHE_LABEL_MAX);
	if (!msg)
		return fail_code();
	if (put_pieces(msg, range, count) || put_wishes(msg, wishes)) {
		nlmsg_free(msg);
		return fail_memory();
	}
	if (nl_ask(msg, "cannot submit a prefetch job", on_job, &job))
		return fail_code();
	*id = job.id;
	return 0;
}

static struct nl_msg *request_of(int command, int flags, dev_t number, uint32_t id)
{
	struct nl_msg *msg = nl_request(command, flags, number, 0);
	struct nlattr *nest;

	if (!msg)
		return NULL;
	nest = nla_nest_start(msg, NEARCACHE_A_DEVICE_JOB);
	if (nest && !nla_put_u32(msg, NEARCACHE_A_JOB_ID, id)) {
		nla_nest_end(msg, nest);
		return msg;
	}
	nlmsg_free(msg);
	fail_memory();
	return NULL;
}

/*
 * Get the progress of a job. @found is false if the device is gone or the kernel does not know the
 * job. The kernel forgets all but the latest finished jobs.
 */
int nl_job_get(dev_t number, uint32_t id, struct nl_job *job, bool *found)
{
	struct nl_msg *msg = request_of(NEARCACHE_CMD_JOB_GET, 0, number, id);

	memset(job, 0, sizeof(*job));
	return msg ? nl_look(msg, "cannot ask for the prefetch job", on_job,
			     job, found) : (int)fail_code();
}

struct telling {
	void (*visit)(const struct nl_job *job, void *arg);
	void *arg;
};

static int on_jobs(struct nl_msg *msg, void *arg)
{
	const struct telling *telling = arg;
	struct nl_job job;

	if (parse_job(msg, &job))
		telling->visit(&job, telling->arg);
	return NL_OK;
}

/* Call @visit for all running jobs and the latest finished ones, by ascending number. */
int nl_job_each(dev_t number,
		void (*visit)(const struct nl_job *job, void *arg), void *arg)
{
	struct telling telling = { visit, arg };
	struct nl_msg *msg = nl_request(NEARCACHE_CMD_JOB_GET, NLM_F_DUMP,
					number, 0);

	return msg ? nl_ask(msg, "cannot ask for prefetch jobs", on_jobs,
			    &telling) : (int)fail_code();
}

/*
 * Call @visit for the ranges that a job has not brought yet, without those in flight. Fails with
 * CODE_BUSY if a new pass of the job began meanwhile.
 */
int nl_job_left(dev_t number, uint32_t id,
		void (*visit)(const struct range *range, void *arg), void *arg)
{
	struct nl_left left = { visit, arg };
	struct nl_msg *msg = request_of(NEARCACHE_CMD_JOB_GET, NLM_F_DUMP, number, id);

	return msg ? nl_ask(msg, "cannot ask for the ranges of a job", nl_on_left, &left) :
		     (int)fail_code();
}

static int on_count(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[NEARCACHE_A_DEVICE_MAX + 1];

	if (!genlmsg_parse(nlmsg_hdr(msg), 0, tb, NEARCACHE_A_DEVICE_MAX, NULL))
		*(uint64_t *)arg = bytes_of(tb, NEARCACHE_A_DEVICE_COUNT);
	return NL_OK;
}

/* Cancel a job. Not an error if the job has finished or the kernel does not know it. */
int nl_job_end(dev_t number, uint32_t id)
{
	struct nl_msg *msg = request_of(NEARCACHE_CMD_JOB_CANCEL, 0, number, id);
	uint64_t count;
	bool found;

	return msg ? nl_look(msg, "cannot cancel a prefetch job", on_count, &count, &found) :
		     (int)fail_code();
}

/* Cancel job @id, or all jobs if @id is 0. An unknown job is an error. @count: cancelled jobs. */
int nl_job_cancel(dev_t number, uint32_t id, uint64_t *count)
{
	struct nl_msg *msg = id ?
		request_of(NEARCACHE_CMD_JOB_CANCEL, 0, number, id) :
		nl_request(NEARCACHE_CMD_JOB_CANCEL, 0, number, 0);

	*count = 0;
	return msg ? nl_ask(msg, "cannot cancel prefetch jobs", on_count,
			    count) : (int)fail_code();
}
