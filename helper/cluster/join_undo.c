// SPDX-License-Identifier: GPL-2.0-only
/* Undo a join that failed or was interrupted. */
#include "cluster/joining.h"

#include <stdio.h>
#include <string.h>

#include "block/dm_remove.h"
#include "lib/error.h"

/* Does the file lack a node of the record? */
static bool has_removed(const struct joining *joining)
{
	size_t i;

	for (i = 0; i < joining->before.nodes; i++)
		if (!joined_has(&joining->after, joining->before.node[i]))
			return true;
	return false;
}

/*
 * Move the error of a step of the undo to @failed, so that the next step begins without one: many
 * functions stop at an error that is recorded.
 */
static void note_failure(char *failed, size_t size)
{
	size_t used = strlen(failed);

	if (fail_code())
		snprintf(failed + used, size - used, "%s%s", used ? "; " : "", fail_message());
	fail_reset();
}

/* An earlier join keeps its nodes; but a node that was taken out of the file must not connect. */
static void undo_export(struct joining *joining)
{
	if (joining->before.found)
		join_export_to(joining, has_removed(joining) ? &joining->after : &joining->before);
	else
		export_remove(joining->peers.peer[joining->conf.self].nqn);
}

/*
 * Undo what this run did, also if a step fails: @failed gets its error. After a failure, the record
 * of this run stays: it names all nodes that may be connected or allowed.
 */
static void undo_steps(struct joining *joining, char *failed, size_t size)
{
	const char *name = joining->request->name;

	if (joining->created)
		dm_remove(name);
	note_failure(failed, size);
	peers_disconnect_fresh(&joining->peers);
	note_failure(failed, size);
	/* The device is in use, though its record was lost: peers may read here. */
	if (!joining->before.found && joining->exists)
		return;
	if (joining->exported)
		undo_export(joining);
	if (!joining->before.found && !fail_code())
		map_remove(name, false);
	note_failure(failed, size);
	if (*failed)
		return;
	if (joining->before.found)
		joined_write(&joining->before);
	else
		joined_remove(name);
	note_failure(failed, size);
}

/*
 * After an error, or ^C, undo what this run did and keep the error. If the nodes of a device in use
 * are replaced already, only the record is late: the next join completes it.
 */
void join_undo(struct joining *joining)
{
	const char *name = joining->request->name;
	enum exit_code code = fail_code();
	char why[1024], failed[768] = "";

	if (joining->changed) {
		fail_add("'nearcache cluster join %s' completes this", name);
		return;
	}
	snprintf(why, sizeof(why), "%s", code ? fail_message() : "the join was interrupted");
	fail_reset();
	undo_steps(joining, failed, sizeof(failed));
	if (!code && !*failed)
		return;
	fail(code ? code : CODE_DEVICE, "%s", why);
	if (*failed)
		fail_add("not all of this was undone: %s: 'nearcache cluster join %s' tries again, 'nearcache cluster leave %s' removes the rest",
			 failed, name, name);
	/* The signal ends the program before it prints the error. */
	if (!code)
		warn("%s", fail_message());
}
