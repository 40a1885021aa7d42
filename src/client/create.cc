#include "client/create.h"

#include <fmt/core.h>

#include <random>
#include <thread>
#include <utility>

namespace pondage::client {
namespace {

constexpr auto kPause = std::chrono::milliseconds(300);

std::string Mark() {
  std::random_device device;
  std::string mark;
  for (int i = 0; i < 4; ++i) mark += fmt::format("{:08x}", device());
  return mark;
}

// It was sent, and whether it was carried out is not known.
bool WasLost(const base::Error& error) {
  return error.id == "PND-C023" || error.id == "PND-C006";
}

}  // namespace

Creation Create(Client& client, const std::string& collection, json::object object,
                std::chrono::milliseconds patience) {
  const std::string mark = Mark();
  json::object& metadata = object["metadata"].as_object();
  const std::string name(metadata.at("name").as_string());
  json::value& annotations = metadata["annotations"];
  if (!annotations.is_object()) annotations = json::object();
  annotations.as_object()[kRequestId] = mark;

  const auto end = std::chrono::steady_clock::now() + patience;
  bool lost = false;
  while (true) {
    auto made = client.Post(collection, object);
    if (made) return {{}, false};
    base::Error error = std::move(made).error();
    lost = lost || WasLost(error);
    if (!lost) return {std::unexpected(std::move(error)), false};
    if (error.kind != base::Kind::kUnavailable) {
      // Refused now; but was it because the first try made it?
      const auto there = client.Get(collection + "/" + PercentEncode(name));
      if (there && Text(*there, {"metadata", "annotations", kRequestId}) == mark) {
        return {{}, false};
      }
      const bool known = there || there.error().kind == base::Kind::kNotFound;
      if (known) return {std::unexpected(std::move(error)), false};
    }
    if (std::chrono::steady_clock::now() >= end) {
      return {base::Fail(base::Kind::kUnavailable, "PND-C023", name,
                         fmt::format("{}\n{} may have been made", error.message, name)),
              true};
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace pondage::client
