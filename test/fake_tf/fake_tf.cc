// Behaves as a TensorFlow worker does towards its scheduler, in milliseconds and without
// TensorFlow.
//
//   fake_tf [--steps N] [--step-ms M] [--checkpoint-dir D] [--every N] [--peer HOST:PORT] [--listen
//   PORT]
//           [--deaf] [--save-on-term] [--fail-at N] [--exit CODE] [--peer-death-ms M]
//
// As measured on the real one: it waits for its peer for ever and in silence, deaf to SIGTERM; a
// peer that dies makes it exit 1 about two seconds later (`--peer-death-ms`); with `--save-on-term`
// it writes a checkpoint at the next step and exits 42, without it ignores SIGTERM.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace {

volatile sig_atomic_t asked_to_leave = 0;

struct Options {
  long steps = 100, step_ms = 10, every = 20, fail_at = -1, exit_code = 0, peer_death_ms = 2000;
  std::string checkpoint_dir, peer;
  int listen_port = 0;
  bool save_on_term = false;
};

void Sleep(long milliseconds) {
  timespec time{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  while (nanosleep(&time, &time) != 0 && errno == EINTR) {
  }
}

// To the shim, as the Python module does; without one nothing happens.
void Tell(const std::string& message) {
  const char* const path = std::getenv("PONDAGE_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof(address.sun_path)) return;
  std::strcpy(address.sun_path, path);
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sendto(socket, message.data(), message.size(), MSG_DONTWAIT,
         reinterpret_cast<sockaddr*>(&address), sizeof(address));
  close(socket);
}

void Save(const Options& options, long step) {
  if (options.checkpoint_dir.empty()) return;
  mkdir(options.checkpoint_dir.c_str(), 0755);
  const std::string name = "ckpt-" + std::to_string(step);
  const std::string file = options.checkpoint_dir + "/checkpoint";
  if (FILE* const data = std::fopen((options.checkpoint_dir + "/" + name + ".index").c_str(), "we"))
    std::fclose(data);
  if (FILE* const list = std::fopen((file + ".tmp").c_str(), "we")) {
    std::fprintf(list, "model_checkpoint_path: \"%s\"\n", name.c_str());
    std::fclose(list);
    std::rename((file + ".tmp").c_str(), file.c_str());
  }
  Tell("1 checkpoint " + std::to_string(step) + " " + options.checkpoint_dir + "/" + name);
  std::printf("SAVED %ld\n", step);
}

// The step of the newest checkpoint; 0: none.
long Restore(const Options& options) {
  long step = 0;
  if (FILE* const list = std::fopen((options.checkpoint_dir + "/checkpoint").c_str(), "re")) {
    if (std::fscanf(list, "model_checkpoint_path: \"ckpt-%ld\"", &step) != 1) step = 0;
    std::fclose(list);
  }
  return step;
}

int Listener(int port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener, 16) != 0) {
    std::printf("cannot listen on %d: %s\n", port, std::strerror(errno));
    std::exit(1);
  }
  return listener;
}

// Until it is there, without a word and deaf to every notice.
int Connect(const std::string& peer) {
  const std::size_t colon = peer.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(peer.c_str() + colon + 1)));
  inet_pton(AF_INET, peer.substr(0, colon).c_str(), &address.sin_addr);
  while (true) {
    const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0)
      return connection;
    close(connection);
    Sleep(20);
  }
}

bool IsGone(int connection) {
  char byte = 0;
  return connection >= 0 && recv(connection, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

Options Parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--save-on-term") {
      options.save_on_term = true;
      continue;
    }
    if (word == "--deaf") continue;  // the default, said aloud
    if (i + 1 == count) std::exit(2);
    const char* const value = words[++i];
    const long number = std::atol(value);
    if (word == "--steps")
      options.steps = number;
    else if (word == "--step-ms")
      options.step_ms = number;
    else if (word == "--every")
      options.every = number;
    else if (word == "--fail-at")
      options.fail_at = number;
    else if (word == "--exit")
      options.exit_code = number;
    else if (word == "--peer-death-ms")
      options.peer_death_ms = number;
    else if (word == "--checkpoint-dir")
      options.checkpoint_dir = value;
    else if (word == "--peer")
      options.peer = value;
    else if (word == "--listen")
      options.listen_port = static_cast<int>(number);
    else
      std::exit(2);
  }
  return options;
}

}  // namespace

int main(int count, char** words) {
  const Options options = Parse(count, words);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, [](int) { asked_to_leave = 1; });
  const int listener = options.listen_port > 0 ? Listener(options.listen_port) : -1;
  int peer = options.peer.empty() ? -1 : Connect(options.peer);
  if (listener >= 0) peer = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  while (listener >= 0 && peer < 0 && errno == EINTR)
    peer = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);

  const long first = Restore(options);
  Tell("1 hello");
  std::printf("START %ld\n", first);
  for (long step = first + 1; step <= options.steps; ++step) {
    Sleep(options.step_ms);
    if (IsGone(peer)) {
      Sleep(options.peer_death_ms);
      std::puts("UnavailableError: Collective ops is aborted by: recvmsg:Connection reset by peer");
      return 1;
    }
    Tell("1 step " + std::to_string(step));
    if (step == options.fail_at) return 1;
    if (asked_to_leave && options.save_on_term) {
      Save(options, step);
      return 42;
    }
    if (options.every > 0 && step % options.every == 0) Save(options, step);
  }
  std::printf("DONE %ld\n", options.steps);
  return static_cast<int>(options.exit_code);
}
