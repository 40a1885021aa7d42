// All that one run of a subcommand works with: its line, the screen, settings and the server.
//
// One thread. The server is found at the first use.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/client.h"
#include "client/settings.h"
#include "grammar/invocation.h"
#include "terminal/screen.h"

namespace pondage::cmd {

namespace json = boost::json;

class Context {
 public:
  Context(grammar::Invocation line, terminal::Surroundings around, client::Settings settings,
          terminal::Screen screen)
      : line_(std::move(line)),
        around_(std::move(around)),
        settings_(std::move(settings)),
        screen_(screen) {}

  const grammar::Invocation& line() const { return line_; }
  const terminal::Screen& screen() const { return screen_; }
  const terminal::Surroundings& around() const { return around_; }
  const client::Settings& settings() const { return settings_; }

  base::Result<client::Client*> Server();
  // What to write instead, from the table of commands: PND-C002.
  base::Error Misused() const;
  base::Result<std::string> Space();  // the namespace: flag, setting, kubeconfig, "default"

  // The answer, to stdout. A closed pipe ends the program quietly.
  void Print(std::string_view text) const;
  // A job that was made: its name, or what -o asks for.
  void PrintMade(const std::string& space, const std::string& name) const;
  // Progress and warnings, to stderr; nothing under --quiet.
  void Note(std::string_view text) const;
  // "warning: ...", to stderr.
  void Warn(std::string_view text) const;
  // Warnings of the server since the last call, to stderr.
  void NoteWarnings();

 private:
  grammar::Invocation line_;
  terminal::Surroundings around_;
  client::Settings settings_;
  terminal::Screen screen_;
  std::unique_ptr<client::Client> client_;
};

// The account of this process; its number where it has no name.
std::string LoginName();

// `path` from the root on.
std::string Absolute(const std::string& path);

// The screen by users' rules: flags, settings, environment, streams.
base::Result<terminal::Screen> ScreenFor(const grammar::Invocation& line,
                                         const client::Settings& settings,
                                         const terminal::Surroundings& around);

}  // namespace pondage::cmd
