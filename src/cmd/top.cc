#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/interrupt.h"
#include "terminal/output.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/top_page.h"

namespace pondage::cmd {
namespace {

using namespace std::chrono_literals;

// The terminal without echo and line editing, on its second screen, until this goes away.
class FullScreen {
 public:
  explicit FullScreen(const Context& context) : context_(context) {
    tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    context_.Print("\x1b[?1049h\x1b[?25l");
  }
  ~FullScreen() {
    context_.Print("\x1b[?25h\x1b[?1049l");
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

 private:
  const Context& context_;
  termios before_{};
};

enum class Key {
  kNone,
  kQuit,
  kUp,
  kDown,
  kHome,
  kEnd,
  kPageUp,
  kPageDown,
  kSort,
  kSortBack,
  kView,
  kHelp,
  kOther
};

Key ReadKey(std::chrono::milliseconds limit) {
  pollfd wanted{STDIN_FILENO, POLLIN, 0};
  if (poll(&wanted, 1, static_cast<int>(limit.count())) <= 0) return Key::kNone;
  char bytes[8] = {};
  const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
  if (got <= 0) return Key::kQuit;  // the terminal is gone
  const std::string_view text(bytes, static_cast<std::size_t>(got));
  if (text == "\x1b[A" || text == "\x1bOA" || text == "k") return Key::kUp;
  if (text == "\x1b[B" || text == "\x1bOB" || text == "j") return Key::kDown;
  if (text == "\x1b[H" || text == "\x1bOH") return Key::kHome;
  if (text == "\x1b[F" || text == "\x1bOF") return Key::kEnd;
  if (text == "\x1b[5~") return Key::kPageUp;
  if (text == "\x1b[6~") return Key::kPageDown;
  switch (text[0]) {
    case 'q':
      return Key::kQuit;
    case 's':
    case '.':
      return Key::kSort;
    case ',':
      return Key::kSortBack;
    case 'g':
      return Key::kView;
    case 'h':
    case '?':
      return Key::kHelp;
    default:
      return Key::kOther;
  }
}

// The pool as last seen, looked at once a second by a thread of its own, so that a slow server
// never makes the keys wait.
class Looker {
 public:
  Looker(client::Client& client, std::string space, view::PoolView first)
      : pool_(std::move(first)),
        seen_(terminal::Now()),
        thread_([this, client = client.Fork(), space](std::stop_token stop) {
          while (!stop.stop_requested()) {
            auto pool = view::LookAtPool(*client, space);
            {
              const std::lock_guard lock(mutex_);
              fresh_ = pool.has_value();
              if (pool) {
                pool_ = *std::move(pool);
                seen_ = terminal::Now();
              }
            }
            for (int i = 0; i < 10 && !stop.stop_requested(); ++i)
              std::this_thread::sleep_for(100ms);
          }
        }) {}

  view::PoolView Pool(std::string& stale) {
    const std::lock_guard lock(mutex_);
    stale = fresh_ ? "" : terminal::ClockText(seen_);
    return pool_;
  }

 private:
  std::mutex mutex_;
  view::PoolView pool_;
  base::Instant seen_;
  bool fresh_ = true;
  std::jthread thread_;  // last: it uses all of the above
};

constexpr int kOrders = static_cast<int>(view::TopOrder::kUser) + 1;

void Take(Key key, view::TopState& state, std::size_t jobs) {
  switch (key) {
    case Key::kUp:
      state.chosen -= state.chosen > 0 ? 1 : 0;
      break;
    case Key::kDown:
      state.chosen += state.chosen + 1 < jobs ? 1 : 0;
      break;
    case Key::kHome:
      state.chosen = 0;
      break;
    case Key::kEnd:
      state.chosen = jobs;
      break;
    case Key::kPageUp:
      state.scrolled -= std::min<std::size_t>(state.scrolled, 10);
      break;
    case Key::kPageDown:
      state.scrolled += 10;
      break;
    case Key::kSort:
      state.order = static_cast<view::TopOrder>((static_cast<int>(state.order) + 1) % kOrders);
      break;
    case Key::kSortBack:
      state.order =
          static_cast<view::TopOrder>((static_cast<int>(state.order) + kOrders - 1) % kOrders);
      break;
    case Key::kView:  // both, GPUs, jobs
      if (state.show_gpus && state.show_jobs) {
        state.show_jobs = false;
      } else if (state.show_gpus) {
        std::swap(state.show_gpus, state.show_jobs);
      } else {
        state.show_gpus = true;
      }
      break;
    case Key::kHelp:
      state.help = !state.help;
      break;
    default:
      state.help = false;
      break;
  }
  if (state.chosen >= jobs) state.chosen = jobs == 0 ? 0 : jobs - 1;
}

base::Result<int> Live(Context& context, client::Client& client, const std::string& space,
                       view::PoolView first, view::TopState state) {
  terminal::Interrupt interrupt;
  FullScreen full(context);
  Looker looker(client, space, std::move(first));
  std::string shown;
  while (!interrupt.Came()) {
    terminal::Screen screen = context.screen();
    winsize size{};
    int height = 24;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) {
      screen.columns = size.ws_col;
      height = size.ws_row;
    }
    const view::PoolView pool = looker.Pool(state.stale);
    std::string page;
    for (const std::string& line : view::TopLines(pool, state, screen, terminal::Now(), height)) {
      if (!page.empty()) page += "\r\n";
      page += terminal::FitTinted(line, screen.columns, screen.ascii) + "\x1b[K";
    }
    if (page != shown) context.Print("\x1b[H" + page + "\x1b[J");
    shown = page;
    const Key key = ReadKey(250ms);
    if (key == Key::kQuit) break;
    if (key != Key::kNone) Take(key, state, pool.jobs.size());
  }
  return terminal::kDone;
}

json::array Items(const view::PoolView& pool) {
  json::array items;
  for (const view::NodeView& node : pool.nodes) {
    for (const view::GpuView& gpu : node.gpus) {
      const auto number = [](const std::optional<std::int64_t>& value) {
        return value ? json::value(*value) : json::value(nullptr);
      };
      const auto text = [](const std::string& value) {
        return value.empty() ? json::value(nullptr) : json::value(value);
      };
      items.push_back(json::object{{"name", gpu.id},
                                   {"node", node.name},
                                   {"index", gpu.index},
                                   {"type", gpu.type},
                                   {"virtual", gpu.is_virtual},
                                   {"held", gpu.held},
                                   {"gpuUtilPercent", number(gpu.utilisation_percent)},
                                   {"memoryUsedBytes", number(gpu.memory_used_bytes)},
                                   {"memoryBytes", gpu.memory_bytes},
                                   {"temperatureCelsius", number(gpu.temperature_c)},
                                   {"powerWatts", number(gpu.power_w)},
                                   {"user", text(gpu.user)},
                                   {"job", text(gpu.job)},
                                   {"replica", text(gpu.replica)}});
    }
  }
  return items;
}

}  // namespace

base::Result<int> TopMain(Context& context) {
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  TRY(view::PoolView pool, view::LookAtPool(*client, space));
  const terminal::Screen& screen = context.screen();
  view::TopState state;
  state.show_gpus = !context.line().Has("jobs");
  state.show_jobs = !context.line().Has("nodes") || context.line().Has("jobs");
  if (screen.format != terminal::Format::kTable && screen.format != terminal::Format::kWide) {
    terminal::Listing listing;
    listing.schema = "pondage.top/1";
    listing.items = Items(pool);
    context.Print(terminal::Render(listing, screen, terminal::Now()));
    return terminal::kDone;
  }
  if (context.line().Has("once") || !screen.out_is_terminal || !screen.in_is_terminal) {
    terminal::Screen plain = screen;
    plain.out_is_terminal = false;
    for (const std::string& line : view::TopLines(pool, state, plain, terminal::Now(), 0))
      context.Print(line + "\n");
    return terminal::kDone;
  }
  return Live(context, *client, space, std::move(pool), state);
}

}  // namespace pondage::cmd
