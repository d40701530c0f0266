/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replaces the part of the kernel's interface that the constructor, the load, the commits and the
 * messages use.  The fuzzers compile sources of kmod/ with this header in front and empty files in
 * place of <linux/...>.  There is one thread.  The fuzzer aborts if a lock is taken twice, or is
 * not taken where lockdep_assert_held() requires it.
 */
#ifndef NEARCACHE_FUZZ_KERNEL_H
#define NEARCACHE_FUZZ_KERNEL_H

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/types.h>

#include "meta/format_user.h"

typedef int64_t s64;
typedef u64 sector_t;
typedef u32 blk_opf_t;
typedef u8 blk_status_t;

#define U16_MAX		UINT16_MAX
#define U32_MAX		UINT32_MAX
#define HZ		250
#define MSEC_PER_SEC	1000
#define USEC_PER_SEC	1000000L
#define PAGE_SIZE	4096UL
#define SECTOR_SHIFT	9
#define CONFIG_64BIT	1
#define CONFIG_SMP	1
#define GFP_KERNEL	0

#define __percpu
#define __aligned(bytes)
#define SMP_CACHE_BYTES	64
#define ____cacheline_aligned	__attribute__((aligned(SMP_CACHE_BYTES)))
#define ____cacheline_aligned_in_smp
#define __release(x)	((void)(x))
#define __acquire(x)	((void)(x))
#define likely(x)	(x)
#define unlikely(x)	(x)
#define __rcu
#define rcu_access_pointer(p)	(p)
#define READ_ONCE(x)	(x)
#define WRITE_ONCE(x, v)	((x) = (v))
#define smp_load_acquire(p)	(*(p))
#define smp_store_release(p, v)	(*(p) = (v))
#define smp_mb()		((void)0)
#define smp_mb__after_atomic()	((void)0)
#define smp_mb__before_atomic()	((void)0)
/* Called where another thread may run, unless NULL. */
extern void (*fuzz_resched)(void);
#define cond_resched()		((void)(fuzz_resched ? fuzz_resched() : (void)0))
/* There is one thread: no other thread could make a false condition true. */
#define DECLARE_WAIT_QUEUE_HEAD(name)	int name __attribute__((unused))
#define wait_event(q, condition)	WARN_ON_ONCE(!(condition))
#define wake_up_all(q)		((void)(q))
#define xchg(p, v) ({ __typeof__(*(p)) _old = *(p); *(p) = (v); _old; })
#define swap(a, b) do { __typeof__(a) _t = (a); (a) = (b); (b) = _t; } while (0)
#define min(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
#define min_t(t, a, b)	min((t)(a), (t)(b))
#define max_t(t, a, b)	max((t)(a), (t)(b))
#define container_of(p, type, m)	((type *)((char *)(p) - offsetof(type, m)))
#define offsetofend(type, m)	(offsetof(type, m) + sizeof(((type *)0)->m))
#define WARN_ON_ONCE(x) ({ if (x) abort(); 0; })
#define WARN_ON		WARN_ON_ONCE
#define le64_add_cpu(p, v)	(*(p) = cpu_to_le64(le64_to_cpu(*(p)) + (v)))

#define IS_ERR(p)	((unsigned long)(p) >= -4095UL)
#define PTR_ERR(p)	((int)(long)(p))
#define ERR_PTR(e)	((void *)(long)(e))

#define ilog2(n)	(63 - __builtin_clzll(n))
#define hweight64(n)	__builtin_popcountll(n)
#define div64_u64(a, b)	((a) / (b))
#define BIT_ULL(n)	(1ULL << (n))
#define GENMASK_ULL(high, low)	(~0ULL >> (63 - (high)) & ~0ULL << (low))
#define array_size(a, b)	((size_t)(a) * (b))

static inline u32 reciprocal_scale(u32 value, u32 room)
{
	return (u64)value * room >> 32;
}

static inline u32 hash_64(u64 value, unsigned int bits)
{
	return value * 0x61C8864680B583EBull >> (64 - bits);
}

/* Memory: fuzz_allocated counts the bytes not freed; fuzz_alloc() aborts beyond its limit. */
void *fuzz_alloc(size_t bytes);
void *fuzz_zalloc(size_t bytes);
void fuzz_free(const void *memory);
extern size_t fuzz_allocated;

#define kzalloc(bytes, gfp)	fuzz_zalloc(bytes)
#define kvzalloc	kzalloc
#define kcalloc(n, bytes, gfp)	fuzz_zalloc((n) * (bytes))
#define struct_size(p, member, n)	(sizeof(*(p)) + (n) * sizeof(*(p)->member))
#define kvcalloc(n, bytes, gfp)	fuzz_zalloc(array_size(n, bytes))
#define vmalloc(bytes)		fuzz_alloc(bytes)
#define vzalloc(bytes)		fuzz_zalloc(bytes)
#define alloc_percpu(type)	((type *)fuzz_zalloc(sizeof(type)))
#define kfree		fuzz_free
#define kvfree		fuzz_free
#define vfree		fuzz_free
#define free_percpu	fuzz_free
#define for_each_possible_cpu(cpu)	for (cpu = 0; cpu < 1; cpu++)
#define per_cpu_ptr(p, cpu)	(&(p)[cpu])
#define this_cpu_add(counter, n)	((counter) += (n))
#define this_cpu_inc(counter)	((counter)++)
/* There is one thread: a loop that sleeps until another thread acts would not end. */
#define usleep_range(least, most)	abort()
#define msleep(time)	abort()
#define memalloc_noio_save()	0U
#define memalloc_noio_restore(flags)	((void)(flags))
/* 64 MiB in pages; cache.c lets the index take half of it. */
#define totalram_pages()	16384UL
#define get_random_u64()	0x5eed5eed5eed5eedULL
#define ktime_get_real_ns()	0ULL

struct mutex {
	int held;
};

typedef struct mutex spinlock_t;

#define DEFINE_MUTEX(name)	struct mutex name
#define mutex_init(m)		((m)->held = 0)
#define spin_lock_init(m)	((m)->held = 0)
#define mutex_lock(m)		do { if ((m)->held++) abort(); } while (0)
#define mutex_unlock(m)		do { if (--(m)->held) abort(); } while (0)
#define spin_lock		mutex_lock
#define spin_unlock		mutex_unlock
#define spin_lock_irq		mutex_lock
#define spin_unlock_irq		mutex_unlock
#define spin_lock_irqsave(m, flags)	((flags) = 0, ({ mutex_lock(m); }))
#define spin_unlock_irqrestore(m, flags)	((void)(flags), ({ mutex_unlock(m); }))
#define lockdep_assert_held(m)	do { if (!(m)->held) abort(); } while (0)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

#define ATOMIC_INIT(n)		{ (n) }
#define atomic_inc(a)		((void)++(a)->counter)
#define atomic_read(a)		((a)->counter)
#define atomic_set(a, v)	((a)->counter = (v))
#define atomic_inc_return(a)	(++(a)->counter)
#define atomic_read_acquire	atomic_read
#define atomic_dec_and_test(a)	(!--(a)->counter)
#define atomic64_set(a, v)	((a)->counter = (v))
#define atomic64_read(a)	((a)->counter)
#define atomic64_add(v, a)	((a)->counter += (v))
#define atomic64_sub(v, a)	((a)->counter -= (v))
#define atomic64_dec(a)		((a)->counter--)

#define max3(a, b, c)	max(max(a, b), c)
#define struct_group(name, ...) \
	union { struct { __VA_ARGS__ }; struct { __VA_ARGS__ } name; }

typedef atomic64_t local64_t;
#define local64_inc(v)		((void)(v))
#define local64_add(n, v)	((void)(v))
#define get_cpu()		0
#define put_cpu()		((void)0)

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(name)		struct list_head name = { &(name), &(name) }
#define INIT_LIST_HEAD(l)	((l)->next = (l)->prev = (l))

static inline void list_add(struct list_head *new, struct list_head *head)
{
	new->next = head->next;
	new->prev = head;
	head->next->prev = new;
	head->next = new;
}

static inline void list_del(struct list_head *l)
{
	l->next->prev = l->prev;
	l->prev->next = l->next;
}

/* There is one thread: no reader is in a section while a writer waits. */
#define list_add_rcu		list_add
#define list_del_rcu		list_del
#define list_for_each_entry_srcu(p, head, m, held)	list_for_each_entry(p, head, m)
#define DEFINE_STATIC_SRCU(name)	int name __attribute__((unused))
#define srcu_read_lock(s)	0
#define srcu_read_unlock(s, section)	((void)(section))
#define srcu_read_lock_held(s)	true
#define synchronize_srcu(s)	((void)0)
#define RCU_LOCKDEP_WARN(bad, why)	((void)0)

#define list_first_entry(head, type, m)	container_of((head)->next, type, m)
#define list_last_entry(head, type, m)	container_of((head)->prev, type, m)
#define list_for_each_entry(p, head, m)						\
	for (p = container_of((head)->next, __typeof__(*p), m); &p->m != (head);	\
	     p = container_of(p->m.next, __typeof__(*p), m))

#define BITS_PER_LONG		64
#define BITS_TO_LONGS(n)	(((n) + BITS_PER_LONG - 1) / BITS_PER_LONG)

static inline bool test_bit(u64 n, const unsigned long *map)
{
	return map[n / BITS_PER_LONG] >> n % BITS_PER_LONG & 1;
}

static inline void set_bit(u64 n, unsigned long *map)
{
	map[n / BITS_PER_LONG] |= 1UL << n % BITS_PER_LONG;
}

static inline void clear_bit(u64 n, unsigned long *map)
{
	map[n / BITS_PER_LONG] &= ~(1UL << n % BITS_PER_LONG);
}

static inline void change_bit(u64 n, unsigned long *map)
{
	map[n / BITS_PER_LONG] ^= 1UL << n % BITS_PER_LONG;
}

#define __set_bit	set_bit
#define __clear_bit	clear_bit

static inline bool test_and_clear_bit(u64 n, unsigned long *map)
{
	bool was = test_bit(n, map);

	clear_bit(n, map);
	return was;
}

static inline u64 find_next_bit(const unsigned long *map, u64 size, u64 from)
{
	u64 i = from / BITS_PER_LONG;
	unsigned long word;

	if (from >= size)
		return size;
	word = map[i] & ~0UL << from % BITS_PER_LONG;
	while (!word && ++i < BITS_TO_LONGS(size))
		word = map[i];
	from = word ? i * BITS_PER_LONG + __builtin_ctzl(word) : size;
	return min(from, size);
}

#define DECLARE_BITMAP(name, n)	unsigned long name[BITS_TO_LONGS(n)]
static inline u64 find_next_zero_bit(const unsigned long *map, u64 size, u64 from)
{
	while (from < size && test_bit(from, map))
		from++;
	return from < size ? from : size;
}

#define for_each_set_bitrange(b, e, map, size)				\
	for ((b) = 0; (b) = find_next_bit(map, size, b),			\
	     (e) = find_next_zero_bit(map, size, b), (b) < (size); (b) = (e))
#define for_each_set_bit(bit, map, n)						\
	for ((bit) = find_next_bit(map, n, 0); (bit) < (n);			\
	     (bit) = find_next_bit(map, n, (bit) + 1))

static inline u32 bitmap_weight(const unsigned long *map, u64 n)
{
	u64 bit;
	u32 sum = 0;

	for_each_set_bit(bit, map, n)
		sum++;
	return sum;
}

#define bitmap_empty(map, n)	(find_next_bit(map, n, 0) == (n))
#define bitmap_zero(map, n)	memset(map, 0, BITS_TO_LONGS(n) * sizeof(long))

static inline void bitmap_fill(unsigned long *map, u64 n)
{
	while (n--)
		set_bit(n, map);
}

static inline void bitmap_or(unsigned long *to, const unsigned long *a, const unsigned long *b,
			     u64 n)
{
	u64 i;

	for (i = 0; i < BITS_TO_LONGS(n); i++)
		to[i] = a[i] | b[i];
}

int kstrtou64(const char *text, unsigned int base, u64 *value);
#define kstrtou32	kstrtouint
int kstrtouint(const char *text, unsigned int base, unsigned int *value);
int match_string(const char *const *list, size_t n, const char *word);
int scnprintf(char *to, size_t room, const char *format, ...);

#include "device_mapper.h"

#endif /* NEARCACHE_FUZZ_KERNEL_H */
