/*
 * A sidecar of hostile native code: it runs in place of Node, reports that it is ready, and then attempts each escape.
 * Standard input contains `<mode> <secret file> <process to attack>`; the result of each attempt is a line on standard error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *secret;
static pid_t target;

static void tell(const char *name, int worked) {
  dprintf(2, "%s %s %d\n", name, worked ? "yes" : "no", worked ? 0 : errno);
}
#define TRY(name, worked) (errno = 0, tell(name, (worked)))
#define CALL(name, ...) TRY(name, syscall(__VA_ARGS__) >= 0)

/** A successful child ends at once; only its creation counts. */
static int forked(long child) {
  if (child == 0) _exit(0);
  if (child > 0) waitpid((pid_t)child, NULL, 0);
  return child > 0;
}

static void files(void) {
  char path[512];
  TRY("read a file", open(secret, O_RDONLY) >= 0);
  TRY("write a file", open(secret, O_WRONLY | O_APPEND) >= 0);
  TRY("list a folder", open("/", O_RDONLY | O_DIRECTORY) >= 0);
  TRY("read /etc/passwd", open("/etc/passwd", O_RDONLY) >= 0);
  snprintf(path, sizeof path, "/proc/%d/environ", target);
  TRY("environment of a process", open(path, O_RDONLY) >= 0);
  snprintf(path, sizeof path, "/proc/%d/mem", target);
  TRY("memory of a process by file", open(path, O_RDWR) >= 0);
  snprintf(path, sizeof path, "%s.new", secret);
  TRY("make a file", open(path, O_WRONLY | O_CREAT, 0600) >= 0);
  TRY("make a folder", mkdir(path, 0700) == 0);
  TRY("link a file", symlink(secret, path) == 0);
  TRY("change a mode", chmod(secret, 0600) == 0);
  TRY("change an owner", chown(secret, getuid(), getgid()) == 0);
  TRY("change a time", utimensat(AT_FDCWD, secret, NULL, 0) == 0);
  TRY("remove a file", unlink(path) == 0 || rmdir(path) == 0);
  CALL("a file in memory", SYS_memfd_create, "x", 0);
}

static void processes(void) {
  struct rlimit limit;
  cpu_set_t cpus;
  struct sched_param parameter = {0};
  char byte[16], mine[16];
  struct iovec local = {mine, 16}, remote = {byte, 16};
  int ends[2];
  siginfo_t info = {.si_code = -1};
  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  TRY("read limits of a process", prlimit(target, RLIMIT_FSIZE, NULL, &limit) == 0);
  limit.rlim_cur = limit.rlim_max = 1 << 30;
  TRY("limit a process", prlimit(target, RLIMIT_FSIZE, &limit, NULL) == 0);
  TRY("limit itself", prlimit(0, RLIMIT_CORE, &(struct rlimit){0, 0}, NULL) == 0);
  TRY("bind a process to a processor", sched_setaffinity(target, sizeof cpus, &cpus) == 0);
  TRY("schedule a process", sched_setscheduler(target, SCHED_BATCH, &parameter) == 0);
  TRY("schedule itself", sched_setscheduler(0, SCHED_IDLE, &parameter) == 0);
  TRY("read affinity of a process", sched_getaffinity(target, sizeof cpus, &cpus) == 0);
  TRY("priority of a process", setpriority(PRIO_PROCESS, target, 19) == 0);
  CALL("disk priority of a process", SYS_ioprio_set, 1, target, (2 << 13) | 7);
  TRY("signal a process", kill(target, 0) == 0);
  TRY("signal every process", kill(-1, 0) == 0);
  CALL("signal a thread of a process", SYS_tgkill, target, target, 0);
  CALL("signal a thread", SYS_tkill, target, 0);
  CALL("queue a signal", SYS_rt_sigqueueinfo, target, 0, &info);
  CALL("a descriptor of a process", 434, target, 0);
  TRY("pipe", pipe2(ends, O_CLOEXEC) == 0);
  TRY("own signals of a descriptor", fcntl(ends[0], F_SETOWN, target) == 0);
  struct f_owner_ex owner = {F_OWNER_PID, target};
  TRY("own signals of a descriptor, extended", fcntl(ends[0], F_SETOWN_EX, &owner) == 0);
  TRY("choose the signal of a descriptor", fcntl(ends[0], F_SETSIG, SIGKILL) == 0);
  TRY("be signalled by a descriptor", fcntl(ends[0], F_SETFL, O_ASYNC) == 0);
  TRY("own signals by ioctl", ioctl(3, 0x8901, &target) == 0);
  TRY("type into a terminal", ioctl(0, TIOCSTI, "x") == 0);
  TRY("trace a process", ptrace(PTRACE_SEIZE, target, 0, 0) == 0 && ptrace(PTRACE_DETACH, target, 0, 0) + 2);
  TRY("memory of a process", process_vm_readv(target, &local, 1, &remote, 1, 0) > 0 || errno == EFAULT);
  CALL("compare processes", SYS_kcmp, target, getpid(), 1, 0, 0);
  CALL("robust list of a process", SYS_get_robust_list, target, &local.iov_base, &remote.iov_len);
  TRY("outlive the core", prctl(PR_SET_PDEATHSIG, 0) == 0);
  TRY("become readable", prctl(PR_SET_DUMPABLE, 1) == 0);
}

static void *nothing(void *given) { return given; }

static void making(void) {
  pthread_t thread;
  TRY("a thread", pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0);
  TRY("fork", forked(fork()));
  TRY("clone a process", forked(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
  uint64_t args[8] = {0, 0, 0, 0, SIGCHLD};
  TRY("clone3 a process", forked(syscall(435, args, sizeof args)));
  CALL("a namespace", SYS_unshare, 0x10000000);
  CALL("a mount", SYS_mount, "none", "/tmp", "tmpfs", 0, 0);
  CALL("another root", SYS_chroot, "/");
  TRY("internet socket", socket(AF_INET, SOCK_STREAM, 0) >= 0);
  TRY("unix socket", socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
  TRY("netlink socket", socket(AF_NETLINK, SOCK_RAW, 0) >= 0);
  int pair[2];
  TRY("socket pair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  CALL("become root", SYS_setuid, 0);
  CALL("keep groups", SYS_setgroups, 0, 0);
  uint32_t header[2] = {0x20080522, 0}, sets[6] = {0};
  CALL("read capabilities", SYS_capget, header, sets);
}

static void kernel(void) {
  char room[256] = {0};
  CALL("bpf", SYS_bpf, 5, room, 64);
  CALL("io_uring", SYS_io_uring_setup, 1, room);
  CALL("userfaultfd", SYS_userfaultfd, 1);
  CALL("a key", SYS_add_key, "user", "x", "y", 1, -3);
  CALL("watch files", SYS_inotify_init1, 0);
  CALL("performance counters", SYS_perf_event_open, room, 0, -1, -1, 0);
  int id = (errno = 0, shmget(IPC_PRIVATE, 4096, 0600));
  tell("shared memory", id >= 0 && shmctl(id, IPC_RMID, NULL) == 0);
  id = (errno = 0, msgget(IPC_PRIVATE, 0600));
  tell("a queue", id >= 0 && msgctl(id, IPC_RMID, NULL) == 0);
  id = (errno = 0, semget(IPC_PRIVATE, 1, 0600));
  tell("a semaphore", id >= 0 && semctl(id, 0, IPC_RMID) == 0);
  CALL("personality", SYS_personality, 0x0400000);
  CALL("another filter", SYS_seccomp, 1, 0, 0);
  size_t page = 4096;
  TRY("writable code", mmap(0, page, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  TRY("anonymous code", mmap(0, page, 5, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  void *data = mmap(0, page, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  TRY("memory", data != MAP_FAILED);
  TRY("data made code", mprotect(data, page, 5) == 0);
#ifdef __x86_64__
  CALL("the x32 alias", 0x40000000 | SYS_getpid);
#endif
}

static void *forever(void *given) {
  while (given == NULL) sleep(1000);
  return given;
}

static void threads(void) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  pthread_t thread;
  int made = 0;
  while (made < 3000 && pthread_create(&thread, &small, forever, NULL) == 0) made++;
  dprintf(2, "threads %d\n", made);
  forever(NULL);
}

/** Sends one message to the core. */
static void say(const char *text) {
  char frame[512];
  uint32_t length = (uint32_t)snprintf(frame + 8, sizeof frame - 8, "%s", text);
  uint32_t sizes[2] = {length + 4, length};
  memcpy(frame, sizes, 8);
  if (write(3, frame, length + 8) < 0) _exit(1);
}

/** Answers received pings, so that the core does not consider the process dead. */
static void answer_pings(void) {
  static char seen[65536];
  struct pollfd core = {.fd = 3, .events = POLLIN};
  if (poll(&core, 1, 0) <= 0) return;
  ssize_t length = read(3, seen, sizeof seen);
  const char *ping = "\"ping\"", *at = seen;
  while (length > 0 && (at = memmem(at, (size_t)(seen + length - at), ping, strlen(ping))) != NULL) {
    at += strlen(ping);
    say("{\"t\":\"pong\",\"isolates\":0}");
  }
}

/** Reading an untouched page maps the shared zero page, which is not charged, with a page table, which is. */
static void tables(void) {
  size_t step = 2 << 20, made = 0;
  volatile char sum = 0;
  for (; made < 100000; made++) {
    char *wanted = (char *)(0x100000000000 + made * step);
    char *got = mmap(wanted, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) break;
    sum += *got;
    if (made % 256 == 0) answer_pings();
  }
  for (size_t chunk = (size_t)1 << 30; made == 65000;) {
    char *got = mmap(0, chunk, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) break;
    for (size_t at = 0; at < chunk; at += step) sum += got[at];
    answer_pings();
  }
  dprintf(2, "tables %zu\n", made);
  for (;;) answer_pings(), usleep(10000);
}

/** Shared pages do not count as private data of a process. */
static void shared(void) {
  size_t step = 16 << 20;
  for (;;) {
    char *got = mmap(0, step, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) break;
    memset(got, 1, step);
    answer_pings();
  }
  for (;;) answer_pings(), usleep(10000);
}

static void say_ready(const char *report) {
  char text[496];
  snprintf(text, sizeof text, "{\"t\":\"ready\",\"jail\":%s}", report);
  say(text);
}

/** The core finally limits this process from outside, and then sends `evict`. */
static void await_go(void) {
  char seen[65536];
  size_t length = 0;
  for (ssize_t got; (got = read(3, seen + length, sizeof seen - length)) > 0;) {
    length += (size_t)got;
    if (memmem(seen, length, "evict", 5)) return;
    if (length > sizeof seen / 2) length = 0;
  }
  _exit(1);
}

int main(int count, char **arguments) {
  static char mode[64], path[512];
  char given[1024] = {0};
  ssize_t length = read(0, given, sizeof given - 1);
  int pid = 0;
  if (length <= 0 || sscanf(given, "%63s %511s %d", mode, path, &pid) != 3) return 1;
  secret = path;
  target = pid;
  if (strcmp(mode, "free") != 0) {
    say_ready(arguments[count - 1]);
    await_go();
  }
  if (strcmp(mode, "threads") == 0) threads();
  if (strcmp(mode, "tables") == 0) tables();
  if (strcmp(mode, "shared") == 0) shared();
#ifdef __x86_64__
  if (strcmp(mode, "int80") == 0) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
    tell("the 32-bit door", result > 0);
    return 0;
  }
#endif
  files();
  processes();
  making();
  kernel();
  TRY("run a shell", execl("/bin/sh", "sh", "-c", "exit 0", NULL) == 0);
  dprintf(2, "done\n");
  return 0;
}
