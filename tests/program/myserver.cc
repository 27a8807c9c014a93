// SPDX-License-Identifier: GPL-2.0-only
/*
 * The C++ program of docs/program-recipes.md. The traced functions do only what their names say,
 * and are called only by lines of input.
 *
 * Usage: myserver
 * Reads lines and answers each by one line, whose last word is a result.
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#define OWN __attribute__((noipa))
#define HIDE(x) __asm__ volatile("" : "+r"(x) : : "memory")

/* A C struct, as a library may define. */
struct request {
	int id;
	const char *path;
};

extern "C" long slow_sum(int n);

thread_local long served;

extern "C" OWN long handle_request(struct request *request, long size)
{
	served++;
	HIDE(size);
	return size + request->id;
}

extern "C" OWN long handle_reply(struct request *request)
{
	long r = -request->id;

	HIDE(r);
	return r;
}

/* Sleeps this number of milliseconds. */
extern "C" OWN int wait_for(int milliseconds)
{
	usleep(milliseconds * 1000);
	return milliseconds;
}

extern "C" OWN int open_config(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd;
}

struct Order {
	std::string name;
	std::vector<int> items;
	std::map<std::string, int> prices;
};

class Shop
{
	long sold = 0;

      public:
	OWN long order(const Order &order, int count);
	OWN long refund(const std::string &name);
};

long Shop::order(const Order &order, int count)
{
	long before = sold; /* the first instruction must be this method's, not an inlined one's */

	HIDE(before);
	sold = before + count * static_cast<long>(order.items.size());
	return sold;
}

long Shop::refund(const std::string &name)
{
	long left = sold;

	HIDE(left);
	sold = left - static_cast<long>(name.size());
	return sold;
}

struct Shape {
	int side = 3;
	virtual ~Shape() = default;
	virtual long area() const
	{
		return 0;
	}
};

struct Square : Shape {
	long area() const override
	{
		return side * side;
	}
};

namespace solid
{
struct Cube : Square {
	long area() const override
	{
		return 6 * side * side;
	}
};
} // namespace solid

OWN long draw(const Shape *shape)
{
	return shape->area();
}

template <typename T> OWN T twice(T n)
{
	HIDE(n);
	return n + n;
}

static inline __attribute__((always_inline)) long discount(long price)
{
	price -= price / 10;
	HIDE(price);
	return price;
}

extern "C" OWN long sell(long price)
{
	HIDE(price);
	return discount(price) + 1;
}

extern "C" OWN long rent(long price)
{
	HIDE(price);
	return discount(price) + 2;
}

extern "C" OWN void fail(int kind)
{
	if (kind)
		throw std::runtime_error("kind");
	throw kind;
}

static int failed(int kind)
{
	try {
		fail(kind);
	} catch (const std::exception &) {
		return 1;
	} catch (int) {
		return 2;
	}
	return 0;
}

static Order made(const char *name, int items)
{
	Order order = { name, {}, {} };

	for (int i = 1; i <= items; i++) {
		order.items.push_back(10 * i);
		order.prices[std::to_string(i)] = i;
	}
	return order;
}

static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;

static int waiter;

/* Hold the mutex while another thread waits for it. Return the tid of that thread. */
static int contended(int milliseconds)
{
	pthread_mutex_lock(&till);
	std::thread other([] {
		pthread_setname_np(pthread_self(), "waiter");
		waiter = gettid();
		pthread_mutex_lock(&till);
		pthread_mutex_unlock(&till);
	});
	while (__atomic_load_n(&till.__data.__lock, __ATOMIC_RELAXED) != 2) /* somebody waits */
		usleep(100);
	usleep(milliseconds * 1000);
	pthread_mutex_unlock(&till);
	other.join();
	return waiter;
}

extern "C" OWN void *clerk(void *calls)
{
	struct request request = { 1, "/clerk" };

	for (long i = 0; i < reinterpret_cast<long>(calls); i++)
		handle_request(&request, i);
	return reinterpret_cast<void *>(static_cast<long>(gettid()));
}

/* Make a thread that handles @calls requests. Return its tid. */
static long hired(long calls)
{
	pthread_t id;
	void *number;

	if (pthread_create(&id, nullptr, clerk, reinterpret_cast<void *>(calls)) ||
	    pthread_join(id, &number))
		exit(2);
	return reinterpret_cast<long>(number);
}

static long plugged(const char *path, int n)
{
	void *plugin = dlopen(path, RTLD_NOW);
	long (*tax)(long) = plugin ? reinterpret_cast<long (*)(long)>(dlsym(plugin, "tax")) :
				     nullptr;
	long r = tax ? tax(n) : -1;

	if (plugin)
		dlclose(plugin);
	return r;
}

/* Let another thread answer the request. Return the tid of that thread. */
static long passed_on(struct request *request)
{
	long number = 0;

	handle_request(request, 1);
	std::thread([&] {
		handle_reply(request);
		number = gettid();
	}).join();
	return number;
}

OWN void fill(int times)
{
	for (int i = 0; i < times; i++) {
		void *memory = malloc(5000);

		HIDE(memory);
		free(memory);
	}
}

OWN void keep(int times)
{
	fill(times);
	HIDE(times);
}

static long drawn(int kind)
{
	Shape shape;
	Square square;
	solid::Cube cube;
	const Shape *shapes[] = { &shape, &square, &cube };

	return draw(shapes[kind % 3]);
}

static long answer(const char *line)
{
	static Shop shop;
	char word[256];
	int a, b;

	if (!strncmp(line, "pid", 3))
		return getpid();
	if (sscanf(line, "request %d %255s %d", &a, word, &b) == 3) {
		struct request request = { a, word };

		return handle_request(&request, b);
	}
	if (sscanf(line, "pass %d", &a) == 1) {
		struct request request = { a, "/pass" };

		return passed_on(&request);
	}
	if (sscanf(line, "keep %d", &a) == 1) {
		keep(a);
		return 0;
	}
	if (sscanf(line, "sum %d", &a) == 1)
		return slow_sum(a);
	if (sscanf(line, "wait %d", &a) == 1)
		return wait_for(a);
	if (sscanf(line, "rest %d", &a) == 1) {
		pthread_setname_np(pthread_self(), "rests");
		return usleep(a * 1000);
	}
	if (sscanf(line, "config %255s", word) == 1)
		return open_config(word) < 0 ? errno : 0;
	if (sscanf(line, "order %255s %d %d", word, &a, &b) == 3)
		return shop.order(made(word, a), b);
	if (sscanf(line, "refund %255s", word) == 1)
		return shop.refund(word);
	if (sscanf(line, "draw %d", &a) == 1)
		return drawn(a);
	if (sscanf(line, "twice %d", &a) == 1)
		return twice(a) + twice(static_cast<long>(a)) + twice(static_cast<short>(a));
	if (sscanf(line, "sell %d", &a) == 1)
		return sell(a);
	if (sscanf(line, "rent %d", &a) == 1)
		return rent(a);
	if (sscanf(line, "fail %d", &a) == 1)
		return failed(a);
	if (sscanf(line, "contend %d", &a) == 1)
		return contended(a);
	if (sscanf(line, "clerk %d", &a) == 1)
		return hired(a);
	if (sscanf(line, "plugin %255s %d", word, &a) == 2)
		return plugged(word, a);
	if (!strncmp(line, "where", 5))
		return reinterpret_cast<long>(clerk);
	if (!strncmp(line, "till", 4))
		return reinterpret_cast<long>(&till);
	exit(0);
}

int main()
{
	char line[512];

	while (fgets(line, sizeof(line), stdin)) {
		printf("%ld\n", answer(line));
		fflush(stdout);
	}
}
