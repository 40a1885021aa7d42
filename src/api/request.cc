#include "api/request.h"

#include <algorithm>
#include <boost/url.hpp>

namespace pondage::api {

namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return lower;
}

// None: a percent sign that is no escape.
std::optional<std::string> Decoded(std::string_view encoded, bool space_as_plus) {
  const auto checked = boost::urls::make_pct_string_view({encoded.data(), encoded.size()});
  if (!checked) return std::nullopt;
  boost::urls::encoding_opts options;
  options.space_as_plus = space_as_plus;
  std::string text;
  checked->decode(options, boost::urls::string_token::assign_to(text));
  return text;
}

}  // namespace

// By hand, since clients leave characters bare that Boost.URL refuses in a query.
std::optional<Query> Query::Parse(std::string_view encoded) {
  Query query;
  while (!encoded.empty()) {
    const auto end = encoded.find('&');
    const std::string_view pair = encoded.substr(0, end);
    encoded.remove_prefix(end == std::string_view::npos ? encoded.size() : end + 1);
    const auto equals = pair.find('=');
    auto name = Decoded(pair.substr(0, equals), true);
    auto value = Decoded(equals == std::string_view::npos ? "" : pair.substr(equals + 1), true);
    if (!name || !value) return std::nullopt;
    if (!name->empty()) query.Set(*std::move(name), *std::move(value));
  }
  return query;
}

bool Query::Has(std::string_view name) const {
  return std::ranges::any_of(pairs_, [&](const auto& pair) { return pair.first == name; });
}

std::string Query::Get(std::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return value;
  }
  return "";
}

std::vector<std::string> Query::All(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : pairs_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

bool Query::Flag(std::string_view name) const {
  if (!Has(name)) return false;
  const std::string value = Lower(Get(name));
  return value != "0" && value != "false";
}

void Query::Set(std::string name, std::string value) {
  pairs_.emplace_back(std::move(name), std::move(value));
}

std::optional<Request> MakeRequest(std::string_view method, std::string_view target) {
  const auto mark = target.find('?');
  const std::string_view path = target.substr(0, mark);
  if (!path.starts_with('/')) return std::nullopt;
  auto decoded = Decoded(path, false);
  if (!decoded) return std::nullopt;
  Request request;
  request.method = method;
  request.path = *std::move(decoded);
  if (request.path.find('\0') != std::string::npos) return std::nullopt;
  while (request.path.size() > 1 && request.path.back() == '/') request.path.pop_back();
  if (mark != std::string_view::npos) {
    auto query = Query::Parse(target.substr(mark + 1));
    if (!query) return std::nullopt;
    request.query = *std::move(query);
  }
  return request;
}

}  // namespace pondage::api
