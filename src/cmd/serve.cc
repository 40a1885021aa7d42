#include "cmd/serve.h"

#include <fmt/format.h>
#include <pwd.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/assert.h"
#include "cmd/notify.h"
#include "cmd/premises.h"
#include "cmd/server.h"
#include "cmd/settings_file.h"
#include "grammar/command.h"
#include "grammar/invocation.h"
#include "terminal/screen.h"
#include "terminal/text.h"
#include "terminal/trouble.h"

namespace pondage::cmd {
namespace {

namespace fs = std::filesystem;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string Home() {
  const std::string home = Variable("HOME");
  if (!home.empty()) return home;
  const passwd* entry = getpwuid(geteuid());
  return entry == nullptr ? "/" : entry->pw_dir;
}

std::string DefaultDataDir() {
  if (geteuid() == 0) return "/var/lib/pondage";
  const std::string data = Variable("XDG_DATA_HOME");
  return (data.empty() ? Home() + "/.local/share" : data) + "/pondage";
}

fs::path OwnDirectory() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path("/usr/bin") : self.parent_path();
}

// The first of them that exists: beside the program in a build, below its prefix when installed.
std::string Find(std::initializer_list<fs::path> places) {
  for (const fs::path& place : places) {
    std::error_code error;
    if (fs::exists(place, error)) return fs::canonical(place, error).string();
  }
  return "";
}

const CLI::Validator kIsLength(
    [](const std::string& text) {
      const auto length = terminal::ParseLength(text);
      return length ? std::string() : length.error().message;
    },
    "TIME");

// A number of jobs; none: however many.
std::optional<std::int64_t> Count(const std::string& text) {
  return text == "all" ? std::nullopt : std::optional(std::stoll(text));
}

const CLI::Validator kIsCount(
    [](const std::string& text) {
      const bool is_number = !text.empty() && text.size() <= 9 &&
                             text.find_first_not_of("0123456789") == std::string::npos;
      return is_number || text == "all" ? std::string() : text + " is no number and not `all`";
    },
    "N|all");

struct Words {
  std::string listen = "127.0.0.1:6443";
  std::string restart_delay = "10s";
  std::string keep_finished;
  std::string keep_finished_count = "all";
  std::string lang;
  bool verbose = false;
};

// A flag as the table of commands has it, on which help, man pages and completion stand too.
class Flags {
 public:
  explicit Flags(CLI::App& app) : app_(app) {}

  template <typename Value>
  CLI::Option* Take(std::string_view name, Value& value) {
    const grammar::Flag& flag = Of(name);
    return app_.add_option("--" + std::string(name), value, std::string(flag.english))
        ->type_name(std::string(flag.value));
  }
  void File(std::string_view name) {
    app_.set_config("--" + std::string(name), "", std::string(Of(name).english));
    taken_.insert(name);
  }
  // All of the table's are taken.
  bool Complete() const { return taken_.size() == Table().size(); }

 private:
  static const std::vector<grammar::Flag>& Table() { return grammar::FindCommand("serve")->flags; }
  const grammar::Flag& Of(std::string_view name) {
    const auto flag = std::ranges::find(Table(), name, &grammar::Flag::name);
    REQUIRE(flag != Table().end());
    taken_.insert(name);
    return *flag;
  }

  CLI::App& app_;
  std::set<std::string_view> taken_;
};

void Describe(CLI::App& app, ServeSettings& settings, Words& words) {
  Flags flags(app);
  flags.Take("data", settings.data_dir);
  flags.Take("listen", words.listen);
  flags.Take("advertise", settings.advertise);
  flags.Take("virtual-gpus", settings.virtual_gpus);
  flags.Take("mount", settings.mounts);
  flags.Take("run-as", settings.run_as);
  flags.Take("restart-delay", words.restart_delay)->check(kIsLength);
  flags.Take("keep-finished", words.keep_finished)->check(kIsLength);
  flags.Take("keep-finished-count", words.keep_finished_count)->check(kIsCount);
  flags.File("config");
  app.add_flag("-v,--verbose", words.verbose);
  app.add_option("--lang", words.lang)->check(CLI::IsMember({"en", "zh"}));
  PROMISE(flags.Complete());
}

// CLI11 passes over what it does not know.
std::string WrongInFile(const CLI::App& app) {
  const CLI::Option* config = app.get_config_ptr();
  if (config == nullptr || config->count() == 0) return "";
  const std::string path = config->as<std::string>();
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::set<std::string, std::less<>> names{"verbose"};
  for (const grammar::Flag& flag : grammar::FindCommand("serve")->flags) {
    if (flag.name != "config") names.emplace(flag.name);
  }
  const std::string wrong = WrongSetting(text, names);
  return wrong.empty() ? "" : path + ", " + wrong;
}

std::string TakeAddress(const std::string& listen, ServeSettings& settings) {
  const auto colon = listen.rfind(':');
  if (colon == std::string::npos) return "--listen takes ADDR:PORT";
  settings.address = listen.substr(0, colon);
  if (settings.address.starts_with('[') && settings.address.ends_with(']')) {
    settings.address = settings.address.substr(1, settings.address.size() - 2);
  }
  const auto port = ParsePort(listen.substr(colon + 1));
  if (!port) return "--listen " + listen + ": the port is a number up to 65535";
  settings.port = *port;
  return "";
}

// Where the client finds the server of this account: a file that names its kubeconfig.
void WritePointer(const std::string& kubeconfig) {
  const std::string config = Variable("XDG_CONFIG_HOME");
  const fs::path place = fs::path(config.empty() ? Home() + "/.config" : config) / "pondage";
  std::error_code error;
  fs::create_directories(place, error);
  std::ofstream(place / "server") << kubeconfig << "\n";
}

int Tell(const base::Error& error) {
  fmt::print(stderr, "error {}: {}{}\n", error.id.empty() ? "PND-C001" : error.id,
             error.object.empty() ? "" : error.object + ": ", error.message);
  if (!error.id.empty()) fmt::print(stderr, "  (docs: pondage man {})\n", error.id);
  return error.kind == base::Kind::kForbidden ? 4 : error.kind == base::Kind::kInvalid ? 2 : 1;
}

// As every other command tells of a line that it does not understand.
int TellMisuse(const CLI::ParseError& error, std::vector<std::string> line,
               const std::string& lang) {
  line.front() = "serve";
  terminal::Screen screen;
  screen.language = terminal::LanguageOf(lang, terminal::Surroundings::OfThisProcess());
  const auto read = grammar::ParseLine(line);
  const base::Error wrong =
      read ? base::Error{base::Kind::kInvalid, "PND-C002", "",
                         std::string(error.what()) + "\nsee: pondage serve --help"}
           : read.error();
  fmt::print(stderr, "{}", terminal::TroubleText(wrong, screen));
  return terminal::ExitCodeOf(wrong);
}

int RunUntilTold(const ServeSettings& settings) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before any thread: all of them leave it to us
  signal(SIGPIPE, SIG_IGN);

  auto server = Server::Start(settings, [](int number, int of, const std::string& what) {
    fmt::print(stderr, "[{}/{}] {}\n", number, of, what);
  });
  if (!server) return Tell(server.error());
  for (const std::string& warning : (*server)->warnings()) {
    fmt::print(stderr, "warning: {}\n", warning);
  }
  WritePointer((*server)->kubeconfig());
  fmt::print(stderr, "ready at {}\n\n  export KUBECONFIG={}\n  kubectl get tfjobs\n\n",
             (*server)->url(), (*server)->kubeconfig());
  NotifyServiceManager("READY=1\nSTATUS=serving " + (*server)->url());

  int signal_number = 0;
  sigwait(&ends, &signal_number);
  NotifyServiceManager("STOPPING=1");
  fmt::print(stderr, "stopping; jobs go on, the next server adopts them\n");
  return 0;
}

}  // namespace

int ServeMain(int argc, char** argv) {
  ServeSettings settings{.data_dir = DefaultDataDir()};
  Words words;
  CLI::App app{"Makes this machine a pool: API server, planner and agent in one process.",
               "pondage serve"};
  Describe(app, settings, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return TellMisuse(error, {argv, argv + argc}, words.lang);
  }
  if (const std::string wrong = WrongInFile(app); !wrong.empty()) {
    return Tell({base::Kind::kInvalid, "PND-C002", "", wrong});
  }
  if (const std::string wrong = TakeAddress(words.listen, settings); !wrong.empty()) {
    return Tell({base::Kind::kInvalid, "PND-C002", "", wrong});
  }
  settings.restart_delay = *terminal::ParseLength(words.restart_delay);
  if (!words.keep_finished.empty())
    settings.keep_finished = *terminal::ParseLength(words.keep_finished);
  settings.keep_finished_count = Count(words.keep_finished_count);
  std::error_code error;
  settings.data_dir = fs::absolute(settings.data_dir, error).lexically_normal().string();
  const fs::path own = OwnDirectory();
  settings.shim = Find({own / "pondage-shim", own / "../libexec/pondage/pondage-shim"});
  if (settings.shim.empty()) {
    return Tell({base::Kind::kUnavailable, "PND-R001", "pondage-shim",
                 fmt::format("is neither in {0} nor in {0}/../libexec/pondage", own.string())});
  }
  settings.python_dir = Find({own / "../share/pondage/python"});
  if (settings.python_dir.empty()) {
    fmt::print(stderr,
               "warning: {}/../share/pondage/python is missing: `import pondage` works only where "
               "pip installed it\n",
               own.string());
  }
  spdlog::set_default_logger(spdlog::stderr_logger_mt("pondage"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  spdlog::set_level(words.verbose ? spdlog::level::debug : spdlog::level::warn);
  return RunUntilTold(settings);
}

}  // namespace pondage::cmd
