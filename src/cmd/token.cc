#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <optional>
#include <tuple>
#include <utility>

#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/output.h"
#include "terminal/text.h"
#include "terminal/trouble.h"

namespace pondage::cmd {
namespace {

using base::Fail;
using base::Kind;

constexpr const char* kTokens = "/pondage/v1/tokens";

// A new file for its owner alone, gone again unless it was filled: it is there before the token is
// made, which is shown only once.
class NewFile {
 public:
  static base::Result<NewFile> Make(const std::string& path) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) return NewFile(path, file);
    return base::Fail(
        errno == EEXIST ? Kind::kConflict : Kind::kInvalid, "PND-C010", "",
        fmt::format("cannot make {}: {}", path, std::generic_category().message(errno)));
  }
  NewFile(NewFile&& other) noexcept
      : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  ~NewFile() {
    if (file_ < 0) return;
    close(file_);
    unlink(path_.c_str());
  }
  base::Result<void> Fill(const std::string& text) {
    const bool whole = write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (!whole)
      return base::Fail(Kind::kInvalid, "PND-C010", "", fmt::format("cannot write {}", path_));
    close(std::exchange(file_, -1));
    return {};
  }

 private:
  NewFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  std::string path_;
  int file_;
};

// This server by the name that it is told to have for other machines, if it has one.
base::Result<client::ServerPlace> PlaceForOthers(client::Client& client) {
  client::ServerPlace place = client.place();
  TRY(const json::value info, client.Get("/pondage/v1/info"));
  const std::string url = client::Text(info, {"url"});
  const auto host = url.find("://");
  const auto port = url.rfind(':');
  if (host == std::string::npos || port <= host) return place;
  place.host = url.substr(host + 3, port - host - 3);
  if (place.host.starts_with('[')) place.host = place.host.substr(1, place.host.size() - 2);
  place.port = url.substr(port + 1);
  return place;
}

base::Result<int> CreateToken(Context& context, client::Client& client, const std::string& name) {
  const grammar::Invocation& line = context.line();
  std::vector<std::string> spaces = line.Values("space");
  if (spaces.empty()) spaces.push_back(name);
  json::object body{{"name", name}, {"admin", line.Has("admin")}};
  if (!line.Has("admin")) body["namespaces"] = json::value_from(spaces);
  if (line.Has("read-only")) body["verbs"] = json::array{"get", "list", "watch"};
  std::optional<NewFile> file;
  if (line.Has("write")) {
    TRY(NewFile made, NewFile::Make(line.Value("write")));
    file.emplace(std::move(made));
  }
  for (const std::string& space : line.Has("admin") ? std::vector<std::string>() : spaces) {
    // A token whose namespace does not exist could do nothing.
    const json::object named{
        {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::object{{"name", space}}}};
    auto present = client.Post("/api/v1/namespaces", named);
    if (!present && present.error().kind != Kind::kAlreadyExists)
      return std::unexpected(present.error());
  }
  TRY(const json::value made, client.Post(kTokens, body));
  const std::string token = client::Text(made, {"token"});
  if (!file) {
    context.Print(token + "\n");
    context.Note(context.screen().Pick(
        "it is shown this once; to use it: PONDAGE_SERVER=URL, PONDAGE_TOKEN=..., and PONDAGE_CA: "
        "a "
        "copy of pki/ca.crt of the data directory. --write FILE puts all three into one file\n",
        "令牌只显示这一次; 使用方法: PONDAGE_SERVER=URL, PONDAGE_TOKEN=..., 以及 PONDAGE_CA: "
        "数据目录中 pki/ca.crt 的副本。--write FILE 把三者写入一个文件\n"));
    return terminal::kDone;
  }
  const auto filled = [&]() -> base::Result<void> {
    TRY(const client::ServerPlace place, PlaceForOthers(client));
    return file->Fill(client::KubeconfigText(place, name, spaces[0], token));
  }();
  if (!filled) {
    std::ignore = client.Delete(std::string(kTokens) + "/" + client::PercentEncode(name));
    return std::unexpected(filled.error());
  }
  context.Print(line.Value("write") + "\n");
  context.Note(fmt::format(
      fmt::runtime(context.screen().Pick(
          "only {1} can read {0}; to hand it over: chown ACCOUNT {0}, and move it to a place that "
          "the account can reach\n",
          "{0} 只有 {1} 能读; 交给他人: chown 账户 {0}, 并移到该账户可访问的目录\n")),
      line.Value("write"), LoginName()));
  context.Note(fmt::format(fmt::runtime(context.screen().Pick("{0} sets: export KUBECONFIG={1}\n",
                                                              "{0} 设置: export KUBECONFIG={1}\n")),
                           name, Absolute(line.Value("write"))));
  return terminal::kDone;
}

base::Result<int> ListTokens(Context& context, client::Client& client) {
  TRY(const json::value answer, client.Get(kTokens));
  const terminal::Screen& screen = context.screen();
  terminal::Listing listing;
  listing.schema = "pondage.token/1";
  listing.table.headings = {screen.Word("NAME"), screen.Pick("RIGHTS", "权限"),
                            screen.Word("NAMESPACE")};
  for (const json::value& entry : client::Items(answer, {"tokens"})) {
    listing.items.push_back(entry);
    std::vector<std::string> spaces;
    std::vector<std::string> verbs;
    for (const json::value& space : client::Items(entry, {"namespaces"}))
      spaces.emplace_back(space.is_string() ? std::string(space.get_string()) : "");
    for (const json::value& verb : client::Items(entry, {"verbs"}))
      verbs.emplace_back(verb.is_string() ? std::string(verb.get_string()) : "");
    const bool admin = client::IsTrue(entry, {"admin"});
    listing.table.rows.push_back(
        {{client::Text(entry, {"name"})},
         {admin           ? "admin"
          : verbs.empty() ? std::string(screen.Pick("all verbs", "全部操作"))
                          : terminal::Join(verbs, ",")},
         {admin ? "*" : terminal::Join(spaces, ",")}});
  }
  context.Print(terminal::Render(listing, screen, terminal::Now()));
  return terminal::kDone;
}

}  // namespace

base::Result<int> TokenMain(Context& context) {
  TRY(client::Client * client, context.Server());
  const auto& words = context.line().words;
  const std::string verb = words.empty() ? "ls" : words[0];
  if (verb == "ls") return ListTokens(context, *client);
  if (words.size() != 2) return std::unexpected(context.Misused());
  if (verb == "create") return CreateToken(context, *client, words[1]);
  TRY_DO(client->Delete(std::string(kTokens) + "/" + client::PercentEncode(words[1])));
  context.Print(fmt::format("{} {}\n", words[1], context.screen().Pick("revoked", "已撤销")));
  return terminal::kDone;
}

}  // namespace pondage::cmd
