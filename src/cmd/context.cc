#include "cmd/context.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace pondage::cmd {
namespace {

void WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      // Whoever read us is gone: nobody is left to tell.
      if (file == STDOUT_FILENO) _exit(errno == EPIPE ? 0 : 1);
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

Format FormatOf(std::string_view name) {
  if (name == "wide") return Format::kWide;
  if (name == "json") return Format::kJson;
  if (name == "yaml") return Format::kYaml;
  if (name == "csv") return Format::kCsv;
  if (name == "name") return Format::kName;
  return Format::kTable;
}

}  // namespace

base::Result<Client*> Context::Server() {
  if (client_ != nullptr) return client_.get();
  WhereFlags where{line_.Value("server"), line_.Value("kubeconfig")};
  if (where.server.empty() && where.kubeconfig.empty() &&
      around_.Variable("PONDAGE_SERVER").empty()) {
    where.server = settings_.Value("server");
    where.kubeconfig = settings_.Value("kubeconfig");
  }
  TRY(ServerPlace place, FindServer(where, around_, ReadWholeFile));
  auto timeout = std::chrono::milliseconds(30'000);
  TRY(const auto asked, line_.Length("timeout"));
  if (asked && asked->value > 0) {
    timeout = std::min(timeout, std::chrono::milliseconds(asked->value));
  }
  client_ = std::make_unique<Client>(std::move(place), timeout);
  return client_.get();
}

base::Result<std::string> Context::Space() {
  if (line_.Has("namespace")) return line_.Value("namespace");
  if (std::string space = settings_.Value("namespace"); !space.empty()) return space;
  TRY(const Client* client, Server());
  return client->place().space.empty() ? std::string("default") : client->place().space;
}

void Context::Print(std::string_view text) const {
  WriteAll(STDOUT_FILENO, text);
}

void Context::Note(std::string_view text) const {
  if (!screen_.quiet) WriteAll(STDERR_FILENO, text);
}

void Context::NoteWarnings() {
  if (client_ == nullptr) return;
  for (const std::string& text : client_->TakeWarnings()) {
    Note(screen_.Err(Tint::kYellow, screen_.Pick("warning", "警告")) + ": " + Plain(text) + "\n");
  }
}

base::Result<Screen> ScreenFor(const Invocation& line, const Settings& settings,
                               const Surroundings& around) {
  Screen screen;
  const std::string colour = line.Value("color", settings.Value("color"));
  screen.out_is_terminal = around.out_is_terminal;
  screen.err_is_terminal = around.err_is_terminal;
  screen.in_is_terminal = around.in_is_terminal;
  screen.colour_out = WantsColour(colour, around, around.out_is_terminal);
  screen.colour_err = WantsColour(colour, around, around.err_is_terminal);
  screen.ascii = line.Has("ascii") || !IsUtf8(around);
  screen.columns = around.columns;
  screen.language = LanguageOf(line.Value("lang", settings.Value("lang")), around);
  // Chinese cannot be written in a character set that has none.
  if (!IsUtf8(around) && !line.Has("lang")) screen.language = Language::kEnglish;
  screen.format = FormatOf(line.Value("output", settings.Value("output")));
  screen.header = !line.Has("no-header");
  screen.quiet = line.Has("quiet");
  screen.verbose = static_cast<int>(line.Values("verbose").size());
  return screen;
}

}  // namespace pondage::cmd
