// SPDX-License-Identifier: GPL-2.0-only
/* The netlink requests about prefetch jobs: job-submit, job-cancel, job-get. */
#include <linux/blkdev.h>
#include <linux/file.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "cache.h"
#include "netlink/policy_gen.h"
#include "netlink/op.h"
#include "dm/claim_registry.h"

/* Parse the attributes of a request's job into @attrs; all NULL if the request has no job. */
static int parse_job(const struct genl_info *info, struct nlattr **attrs)
{
	const struct nlattr *job = info->attrs[NEARCACHE_A_DEVICE_JOB];

	memset(attrs, 0, (NEARCACHE_A_JOB_MAX + 1) * sizeof(*attrs));
	return job ? nla_parse_nested(attrs, NEARCACHE_A_JOB_MAX, job, nearcache_job_nl_policy,
				      info->extack) : 0;
}

/* Does the request's job have an id and no other attribute? */
static bool names_only_id(struct nlattr **attrs)
{
	int i;

	for (i = 0; i <= NEARCACHE_A_JOB_MAX; i++)
		if (attrs[i] && i != NEARCACHE_A_JOB_ID)
			return false;
	return attrs[NEARCACHE_A_JOB_ID];
}

/* Get the id of the job that a request names.  With @all a request without a job gives id 0. */
static int parse_id(const struct genl_info *info, bool all, u32 *id)
{
	struct nlattr *attrs[NEARCACHE_A_JOB_MAX + 1];
	int r = parse_job(info, attrs);

	*id = 0;
	if (r || (all && !info->attrs[NEARCACHE_A_DEVICE_JOB]))
		return r;
	if (!names_only_id(attrs) || !nla_get_u32(attrs[NEARCACHE_A_JOB_ID])) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NEARCACHE_A_DEVICE_JOB],
				    "Name a job only by its id, which is not 0");
		return -EINVAL;
	}
	*id = nla_get_u32(attrs[NEARCACHE_A_JOB_ID]);
	return 0;
}

/* Parse the next piece of a job, and extend it to whole sub-blocks. */
static int parse_piece(const struct nc_cache *c, const struct nlattr *range, struct nc_job *job,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[NEARCACHE_A_RANGE_MAX + 1];
	struct nc_piece *piece = &job->piece[NC_JOB_SPARE + job->pieces];
	u64 end = c->geo.origin_size >> SECTOR_SHIFT;
	int i, r;

	r = nla_parse_nested(attrs, NEARCACHE_A_RANGE_MAX, range, nearcache_range_nl_policy,
			     extack);
	if (r)
		return r;
	for (i = 0; i <= NEARCACHE_A_RANGE_MAX; i++)
		if (!attrs[i] == (i == NEARCACHE_A_RANGE_START || i == NEARCACHE_A_RANGE_LENGTH)) {
			NL_SET_ERR_MSG_ATTR(extack, range,
					    "A range of a job takes only start and length");
			return -EINVAL;
		}
	r = nc_nl_piece(c, attrs[NEARCACHE_A_RANGE_START], attrs[NEARCACHE_A_RANGE_LENGTH],
			extack, &piece->first, &piece->end);
	if (r)
		return r;
	piece->first = round_down(piece->first, 1ULL << c->hot.sub_shift);
	piece->end = min(round_up(piece->end, 1ULL << c->hot.sub_shift), end);
	job->bytes += (piece->end - piece->first) << SECTOR_SHIFT;
	job->pieces++;
	return 0;
}

static int parse_pieces(const struct nc_cache *c, const struct genl_info *info, struct nc_job *job)
{
	const struct nlattr *range = nc_nl_next_range(info, NEARCACHE_A_DEVICE_RANGE, NULL);
	int r = 0;

	for (; range && !r; range = nc_nl_next_range(info, NEARCACHE_A_DEVICE_RANGE, range)) {
		r = parse_piece(c, range, job, info->extack);
		if (!(job->pieces % 1024))
			cond_resched();
	}
	if (!r)
		job->sector = job->piece[NC_JOB_SPARE].first;
	return r;
}

/* Can a job read this open file instead of the origin? */
static int check_peer_file(const struct nc_cache *c, const struct file *peer,
			   struct netlink_ext_ack *extack)
{
	struct block_device *bdev;

	if (!S_ISBLK(file_inode(peer)->i_mode) || !(peer->f_mode & FMODE_READ)) {
		NL_SET_ERR_MSG(extack, "The peer is no block device that is open for reading");
		return -EINVAL;
	}
	bdev = I_BDEV(peer->f_mapping->host);
	if (MAJOR(bdev->bd_dev) == MAJOR(c->dev.dm_devt)) {
		NL_SET_ERR_MSG(extack, "The peer is a dm device, which might read this cache");
		return -EINVAL;
	}
	if (bdev_nr_bytes(bdev) != c->geo.origin_size) {
		NL_SET_ERR_MSG(extack, "The peer and the origin have different sizes");
		return -EINVAL;
	}
	if (bdev_is_zoned(bdev) || c->geo.subblock_size % bdev_logical_block_size(bdev) ||
	    c->geo.origin_size % bdev_logical_block_size(bdev)) {
		NL_SET_ERR_MSG(extack, "The peer is zoned, or has too large logical blocks");
		return -EINVAL;
	}
	return 0;
}

/* Check the peer of a job.  The device must be live, so that its mode and size are constant. */
static int check_job_peer(const struct nc_cache *c, const struct nc_job *job,
			  struct netlink_ext_ack *extack)
{
	if (!job->peer)
		return 0;
	if (c->life.active->mode != NEARCACHE_READ_ONLY) {
		NL_SET_ERR_MSG(extack, "Only a cache in mode read-only can read at a peer");
		return -EINVAL;
	}
	return check_peer_file(c, job->peer, extack);
}

/* Take the open file that the request names.  Runs in the context of the sender. */
static int parse_peer(const struct genl_info *info, const struct nlattr *attr, struct nc_job *job)
{
	job->peer = fget(nla_get_u32(attr));
	if (!job->peer) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "This is no open file descriptor");
		return -EBADF;
	}
	job->peer_dev = file_inode(job->peer)->i_rdev;
	return 0;
}

/* Parse the settings of a new job: label, priority, deadline, bandwidth and peer. */
static int parse_job_wishes(const struct genl_info *info, struct nc_job *job)
{
	struct nlattr *attrs[NEARCACHE_A_JOB_MAX + 1];
	int i, r = parse_job(info, attrs);

	if (r)
		return r;
	for (i = 0; i <= NEARCACHE_A_JOB_MAX; i++)
		if (attrs[i] && i != NEARCACHE_A_JOB_LABEL && i != NEARCACHE_A_JOB_PRIORITY &&
		    i != NEARCACHE_A_JOB_DEADLINE && i != NEARCACHE_A_JOB_BANDWIDTH &&
		    i != NEARCACHE_A_JOB_PEER_FD) {
			NL_SET_ERR_MSG_ATTR(info->extack, attrs[i],
					    "Only label, priority, deadline, bandwidth, peer-fd can be set");
			return -EINVAL;
		}
	if (attrs[NEARCACHE_A_JOB_LABEL])
		nla_strscpy(job->label, attrs[NEARCACHE_A_JOB_LABEL], sizeof(job->label));
	if (attrs[NEARCACHE_A_JOB_PRIORITY])
		job->priority = nla_get_u32(attrs[NEARCACHE_A_JOB_PRIORITY]);
	if (attrs[NEARCACHE_A_JOB_DEADLINE] && nla_get_u32(attrs[NEARCACHE_A_JOB_DEADLINE]))
		job->deadline =
			(jiffies + (u64)nla_get_u32(attrs[NEARCACHE_A_JOB_DEADLINE]) * HZ) ?: 1;
	if (attrs[NEARCACHE_A_JOB_BANDWIDTH])
		job->bandwidth = nla_get_u64(attrs[NEARCACHE_A_JOB_BANDWIDTH]);
	if (attrs[NEARCACHE_A_JOB_PEER_FD])
		return parse_peer(info, attrs[NEARCACHE_A_JOB_PEER_FD], job);
	return 0;
}

static struct nc_job *alloc_job(u32 pieces)
{
	struct nc_job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (!job)
		return NULL;
	job->at = NC_JOB_SPARE;
	job->piece = kvmalloc_array(NC_JOB_SPARE + pieces, sizeof(*job->piece), GFP_KERNEL);
	if (job->piece)
		return job;
	kfree(job);
	return NULL;
}

static int job_put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, NEARCACHE_A_JOB_PAD);
}

static u32 seconds_left(const struct nc_job *job)
{
	if (!job->deadline)
		return 0;
	return time_after(job->deadline, jiffies) ?
		min_t(u64, U32_MAX, (job->deadline - jiffies) / HZ + 1) : 1;
}

/*
 * Put a job into a message, with its label and peer only if @labels.  Context: nc_prefetch.lock is
 * held, so the numbers are consistent.
 */
static int put_job(struct sk_buff *skb, const struct nc_job *job, bool labels)
{
	struct nlattr *nest = nla_nest_start(skb, NEARCACHE_A_DEVICE_JOB);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, NEARCACHE_A_JOB_ID, job->id) ||
	    (labels && nla_put_string(skb, NEARCACHE_A_JOB_LABEL, job->label)) ||
	    nla_put_u32(skb, NEARCACHE_A_JOB_STATE, nc_job_state(job)) ||
	    nla_put_u32(skb, NEARCACHE_A_JOB_PRIORITY, job->priority) ||
	    nla_put_u32(skb, NEARCACHE_A_JOB_DEADLINE, seconds_left(job)) ||
	    job_put_u64(skb, NEARCACHE_A_JOB_BANDWIDTH, job->bandwidth) ||
	    job_put_u64(skb, NEARCACHE_A_JOB_BYTES, job->bytes) ||
	    job_put_u64(skb, NEARCACHE_A_JOB_FETCHED, job->fetched) ||
	    job_put_u64(skb, NEARCACHE_A_JOB_PRESENT, job->present) ||
	    job_put_u64(skb, NEARCACHE_A_JOB_LEFT, job->left) ||
	    job_put_u64(skb, NEARCACHE_A_JOB_FLYING, job->flying) ||
	    (labels && job->peer_dev &&
	     nla_put_u32(skb, NEARCACHE_A_JOB_PEER_DEV, job->peer_dev)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Send or free @reply, with the number of the new job.  The job runs even if the reply is lost. */
static void reply_id(struct genl_info *info, struct sk_buff *reply, void *header,
		     const struct nc_cache *c, u32 id)
{
	struct nlattr *nest;

	if (nla_put_u32(reply, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(c)))
		goto free;
	nest = nla_nest_start(reply, NEARCACHE_A_DEVICE_JOB);
	if (!nest || nla_put_u32(reply, NEARCACHE_A_JOB_ID, id))
		goto free;
	nla_nest_end(reply, nest);
	genlmsg_end(reply, header);
	genlmsg_reply(reply, info);
	return;
free:
	nlmsg_free(reply);
}

/* Queue a job.  The device must be live: the origin's size, a limit of pieces, is constant then. */
static s64 submit_job(struct nc_cache *c, struct genl_info *info, struct nc_job *job)
{
	s64 id = nc_nl_take_live(c, info->extack);

	if (id)
		return id;
	id = check_job_peer(c, job, info->extack) ?: parse_pieces(c, info, job);
	if (!id)
		id = nc_prefetch_submit(c, job);
	if (id == -EMLINK)
		NL_SET_ERR_MSG(info->extack,
			       "Too many jobs (1024) or ranges (1048576): wait, or cancel some");
	mutex_unlock(&c->life.lock);
	return id;
}

int nearcache_nl_job_submit_doit(struct sk_buff *skb, struct genl_info *info)
{
	u32 pieces = nc_nl_count_ranges(info, NEARCACHE_A_DEVICE_RANGE);
	struct sk_buff *reply = NULL;
	unsigned int noio;
	struct nc_job *job;
	struct nc_cache *c;
	void *header;
	s64 r = nc_nl_admin(skb, info->extack);

	if (r)
		return r;
	if (!pieces || pieces > NC_JOB_PIECES_MAX) {
		NL_SET_ERR_MSG(info->extack, "1 to 1048576 ranges are needed");
		return -EINVAL;
	}
	job = alloc_job(pieces);
	if (!job)
		return -ENOMEM;
	c = nc_nl_hold(info->attrs, info->extack);
	if (IS_ERR(c)) {
		nc_job_free(job);
		return PTR_ERR(c);
	}
	reply = nc_nl_reply(info, NEARCACHE_CMD_JOB_SUBMIT, &header);
	r = reply ? parse_job_wishes(info, job) : -ENOMEM;
	if (!r) {
		/* Suspend waits for nc_life.lock: do not wait for I/O to get memory under it. */
		noio = memalloc_noio_save();
		r = submit_job(c, info, job);
		memalloc_noio_restore(noio);
	}
	if (r > 0) {
		reply_id(info, reply, header, c, r);
		r = 0;
	} else {
		nc_job_free(job);
		nlmsg_free(reply);
	}
	nc_registry_release(c);
	return r;
}

static int reply_count(struct genl_info *info, const struct nc_cache *c, u32 count)
{
	void *header;
	struct sk_buff *reply = nc_nl_reply(info, NEARCACHE_CMD_JOB_CANCEL, &header);

	/* No error: the jobs are cancelled even if no reply can be sent. */
	if (!reply)
		return 0;
	if (nla_put_u32(reply, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(c)) ||
	    nla_put_u64_64bit(reply, NEARCACHE_A_DEVICE_COUNT, count, NEARCACHE_A_DEVICE_PAD)) {
		nlmsg_free(reply);
		return 0;
	}
	genlmsg_end(reply, header);
	genlmsg_reply(reply, info);
	return 0;
}

static int refuse_id(const struct genl_info *info)
{
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NEARCACHE_A_DEVICE_JOB],
			    "There is no such job, or it is over");
	return -ENOENT;
}

int nearcache_nl_job_cancel_doit(struct sk_buff *skb, struct genl_info *info)
{
	u32 id, count;
	struct nc_cache *c;
	int r = nc_nl_admin(skb, info->extack) ?: parse_id(info, true, &id);

	if (r)
		return r;
	c = nc_nl_hold(info->attrs, info->extack);
	if (IS_ERR(c))
		return PTR_ERR(c);
	count = nc_prefetch_cancel(c, id);
	r = id && !count ? refuse_id(info) : reply_count(info, c, count);
	nc_registry_release(c);
	return r;
}

static int reply_job(struct nc_cache *c, struct genl_info *info, u32 id, bool labels)
{
	struct nc_prefetch *p = &c->prefetch;
	struct sk_buff *reply;
	struct nc_job *job;
	void *header;
	int r;

	reply = nc_nl_reply(info, NEARCACHE_CMD_JOB_GET, &header);
	if (!reply)
		return -ENOMEM;
	r = nla_put_u32(reply, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(c));
	spin_lock(&p->lock);
	job = nc_jobs_find(&p->jobs, id);
	if (job && !r)
		r = put_job(reply, job, labels);
	spin_unlock(&p->lock);
	if (!job)
		r = refuse_id(info);
	return nc_nl_send(info, reply, header, r);
}

int nearcache_nl_job_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nc_cache *c;
	u32 id;
	int r = parse_id(info, false, &id);

	if (r)
		return r;
	c = nc_nl_hold(info->attrs, info->extack);
	if (IS_ERR(c))
		return PTR_ERR(c);
	r = reply_job(c, info, id, nc_nl_sees_labels(skb));
	nc_registry_release(c);
	return r;
}

/**
 * struct job_dump - position of a dump of jobs, or of the pieces of a job; in netlink_callback.ctx
 * @last: number of the last job put into a message
 * @allowed: the permission and the attributes were checked, and @labels is set
 * @labels: the sender may see labels, peers and pieces
 * @id: job whose pieces are listed; 0: list the jobs
 * @begun: @pass is set
 * @pass: nc_job.pass when the list began: a new pass changes the indexes of the pieces
 * @next: index of the next piece; behind the pieces, those for the next pass follow
 */
struct job_dump {
	u32 last;
	bool allowed;
	bool labels;
	u32 id;
	bool begun;
	u32 pass;
	u32 next;
};

static_assert(sizeof(struct job_dump) <= sizeof_field(struct netlink_callback, ctx));

/* Put the next job into the buffer as a message.  Return: 1; 0: there is none; -EMSGSIZE: no room.
 */
static int dump_next_job(struct sk_buff *skb, struct netlink_callback *cb, struct nc_cache *c)
{
	struct job_dump *dump = (void *)cb->ctx;
	struct nc_job *job = nc_jobs_next(&c->prefetch.jobs, dump->last);
	void *header;

	lockdep_assert_held(&c->prefetch.lock);
	if (!job)
		return 0;
	header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &nc_nl_family,
			     NLM_F_MULTI, NEARCACHE_CMD_JOB_GET);
	if (!header)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, header);
	if (nla_put_u32(skb, NEARCACHE_A_DEVICE_DEV, nc_nl_dev(c)) ||
	    put_job(skb, job, dump->labels)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	dump->last = job->id;
	return 1;
}

/* Put jobs into the buffer until it is full.  Any user may ask, and readers take the lock: it is
 * held for one job at a time.
 */
static int dump_jobs(struct sk_buff *skb, struct netlink_callback *cb, struct nc_cache *c)
{
	int r;

	do {
		spin_lock(&c->prefetch.lock);
		r = dump_next_job(skb, cb, c);
		spin_unlock(&c->prefetch.lock);
		cond_resched();
	} while (r > 0);
	return skb->len ?: r;
}

/* Get the piece with index @next of those that a job has yet to submit; false: it is the end. */
static bool piece_left(const struct nc_job *job, u32 *next, struct nc_piece *piece)
{
	u32 end = NC_JOB_SPARE + job->pieces;

	*next = max(*next, job->at);
	if (*next >= end + job->kept)
		return false;
	*piece = job->piece[*next < end ? *next : *next - end];
	if (*next == job->at && *next < end)
		piece->first = job->sector;
	return true;
}

/* Put pieces that the job has yet to submit into one message, until it is full. */
static int dump_pieces(struct sk_buff *skb, struct netlink_callback *cb, struct nc_cache *c)
{
	struct nc_job *job = nc_jobs_find(&c->prefetch.jobs, ((struct job_dump *)cb->ctx)->id);
	struct job_dump *dump = (void *)cb->ctx;
	struct nc_piece piece;
	bool any = false;
	void *header;

	lockdep_assert_held(&c->prefetch.lock);
	/* A job that is over has no pieces. */
	if (!job || !job->piece)
		return job || dump->begun ? 0 : -ENOENT;
	if (dump->begun && dump->pass != job->pass)
		return -EAGAIN;
	dump->begun = true;
	dump->pass = job->pass;
	if (!piece_left(job, &dump->next, &piece))
		return 0;
	header = nc_nl_put_header(skb, cb, c, NEARCACHE_CMD_JOB_GET);
	if (!header)
		return -EMSGSIZE;
	while (piece_left(job, &dump->next, &piece) &&
	       !nc_nl_put_sectors(skb, piece.first, piece.end)) {
		dump->next++;
		any = true;
	}
	if (!any) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return skb->len;
}

/* Parse the number of the job whose pieces a dump lists; none: the dump lists the jobs. */
static int parse_dump_id(struct nlattr *job, struct netlink_ext_ack *extack, u32 *id)
{
	struct nlattr *attrs[NEARCACHE_A_JOB_MAX + 1];
	int r;

	*id = 0;
	if (!job)
		return 0;
	r = nla_parse_nested(attrs, NEARCACHE_A_JOB_MAX, job, nearcache_job_nl_policy, extack);
	if (r)
		return r;
	if (names_only_id(attrs) && nla_get_u32(attrs[NEARCACHE_A_JOB_ID])) {
		*id = nla_get_u32(attrs[NEARCACHE_A_JOB_ID]);
		return 0;
	}
	NL_SET_ERR_MSG_ATTR(extack, job, "Name a job only by its id, which is not 0");
	return -EINVAL;
}

int nearcache_nl_job_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct job_dump *dump = (void *)cb->ctx;
	struct nlattr **attrs = nc_dump_attrs(cb);
	struct nc_cache *c;
	int r;

	if (!dump->allowed) {
		dump->labels = nc_nl_sees_labels(cb->skb);
		r = parse_dump_id(attrs[NEARCACHE_A_DEVICE_JOB], cb->extack, &dump->id);
		if (!r && dump->id && !dump->labels) {
			NL_SET_ERR_MSG(cb->extack,
				       "CAP_SYS_ADMIN and CAP_NET_ADMIN are needed for ranges of a job");
			r = -EPERM;
		}
		if (r)
			return r;
		dump->allowed = true;
	}
	c = nc_nl_hold(attrs, cb->extack);
	if (IS_ERR(c))
		return PTR_ERR(c);
	nc_nl_watch(cb);
	if (dump->id) {
		spin_lock(&c->prefetch.lock);
		r = dump_pieces(skb, cb, c);
		spin_unlock(&c->prefetch.lock);
	} else {
		r = dump_jobs(skb, cb, c);
	}
	nc_registry_release(c);
	return r;
}
