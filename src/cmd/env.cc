#include <fmt/core.h>

#include "cmd/context.h"
#include "cmd/mains.h"
#include "doctor/rules.h"
#include "terminal/output.h"
#include "terminal/text.h"
#include "terminal/trouble.h"

namespace pondage::cmd {
namespace {

constexpr const char* kEnvironments = "/pondage/v1/environments";

base::Result<int> ListEnvironments(Context& context, client::Client& client) {
  TRY(const json::value answer, client.Get(kEnvironments));
  const terminal::Screen& screen = context.screen();
  terminal::Listing listing;
  listing.schema = "pondage.env/1";
  for (const char* word : {"IMAGE", "PATH"}) listing.table.headings.push_back(screen.Word(word));
  listing.table.headings.insert(listing.table.headings.begin() + 1,
                                {"PYTHON", "TENSORFLOW", "KERAS"});
  for (const json::value& entry : client::Items(answer, {"environments"})) {
    json::object item = entry.is_object() ? entry.get_object() : json::object();
    item["name"] = client::Text(entry, {"image"});
    listing.items.push_back(std::move(item));
    const auto cell = [&](const char* name) {
      const std::string text = client::Text(entry, {name});
      return terminal::Cell{text.empty() ? "-" : text};
    };
    listing.table.rows.push_back(
        {cell("image"), cell("python"), cell("tensorflow"), cell("keras"), cell("path")});
  }
  context.Print(terminal::Render(listing, screen, terminal::Now()));
  return terminal::kDone;
}

}  // namespace

base::Result<int> EnvMain(Context& context) {
  TRY(client::Client * client, context.Server());
  const auto& words = context.line().words;
  const std::string verb = words.empty() ? "ls" : words[0];
  if (verb == "ls") return ListEnvironments(context, *client);
  if (verb == "add") {
    if (words.size() != 3) return std::unexpected(context.Misused());
    const json::value body = {{"image", words[1]}, {"path", Absolute(words[2])}};
    TRY(const json::value made, client->Post(kEnvironments, body));
    std::vector<std::string> found;
    for (const auto& [key, word] :
         {std::pair("python", "Python"), {"tensorflow", "TensorFlow"}, {"keras", "Keras"}}) {
      if (const std::string version = client::Text(made, {key}); !version.empty())
        found.push_back(fmt::format("{} {}", word, version));
    }
    context.Print(fmt::format("{} = {}{}\n", words[1], Absolute(words[2]),
                              found.empty() ? "" : "  (" + terminal::Join(found, ", ") + ")"));
    const std::string version = client::Text(made, {"tensorflow"});
    if (doctor::NamesAnotherTensorFlow(words[1], version)) {
      context.Warn(
          fmt::format(fmt::runtime(context.screen().Pick("jobs that ask for {} get TensorFlow {}",
                                                         "要求 {} 的作业将得到 TensorFlow {}")),
                      words[1], version));
    }
    return terminal::kDone;
  }
  if (words.size() != 2) return std::unexpected(context.Misused());
  TRY_DO(client->Delete(std::string(kEnvironments) + "?image=" + client::PercentEncode(words[1])));
  context.Print(fmt::format("{} {}\n", words[1], context.screen().Pick("removed", "已移除")));
  return terminal::kDone;
}

}  // namespace pondage::cmd
