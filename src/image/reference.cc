#include "image/reference.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace pondage::image {
namespace {

constexpr std::string_view kDefaultRegistry = "docker.io";
constexpr std::string_view kDefaultFolder = "library/";
constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestTag = 128;

bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}
bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLetter(char c) {
  return IsLower(c) || (c >= 'A' && c <= 'Z');
}
bool IsLowerHex(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f');
}

std::unexpected<base::Error> Bad(std::string_view text, std::string why) {
  return base::Fail(base::Kind::kInvalid, "PND-E002", std::string(text.substr(0, 300)),
                    std::move(why));
}

bool IsPort(std::string_view port) {
  return !port.empty() && port.size() <= 5 && std::ranges::all_of(port, IsDigit);
}

bool IsHostLabel(std::string_view label) {
  if (label.empty() || label.front() == '-' || label.back() == '-') return false;
  return std::ranges::all_of(label, [](char c) { return IsLetter(c) || IsDigit(c) || c == '-'; });
}

// The shape of an address, not its value: whoever dials it knows better.
bool IsBracketedV6(std::string_view host) {
  if (host.size() < 4 || host.front() != '[' || host.back() != ']') return false;
  host = host.substr(1, host.size() - 2);
  return host.find(':') != std::string_view::npos &&
         std::ranges::all_of(host, [](char c) { return std::isxdigit(c) != 0 || c == ':'; });
}

bool IsRegistry(std::string_view registry) {
  std::string_view host = registry;
  const std::size_t bracket = registry.rfind(']');
  const std::size_t colon = registry.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    if (!IsPort(registry.substr(colon + 1))) return false;
    host = registry.substr(0, colon);
  }
  if (host.starts_with('[')) return IsBracketedV6(host);
  for (;;) {
    const std::size_t dot = host.find('.');
    if (!IsHostLabel(host.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    host.remove_prefix(dot + 1);
  }
}

// Small letters and digits, joined by one dot, one or two underscores, or hyphens.
bool IsPathPart(std::string_view part) {
  if (part.empty()) return false;
  std::size_t at = 0;
  while (at < part.size()) {
    const std::size_t word = at;
    while (at < part.size() && (IsLower(part[at]) || IsDigit(part[at]))) ++at;
    if (at == word) return false;
    if (at == part.size()) return true;
    const std::size_t joint = at;
    while (at < part.size() && part[at] == part[joint] && !IsLower(part[at]) &&
           !IsDigit(part[at])) {
      ++at;
    }
    const char c = part[joint];
    const std::size_t length = at - joint;
    const bool allowed = c == '-' || (c == '.' && length == 1) || (c == '_' && length <= 2);
    if (!allowed) return false;
  }
  return false;  // it ended with a joint
}

bool IsRepository(std::string_view repository) {
  for (;;) {
    const std::size_t slash = repository.find('/');
    if (!IsPathPart(repository.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    repository.remove_prefix(slash + 1);
  }
}

bool IsTag(std::string_view tag) {
  const auto is_word = [](char c) { return IsLetter(c) || IsDigit(c) || c == '_'; };
  return !tag.empty() && tag.size() <= kLongestTag && is_word(tag.front()) &&
         std::ranges::all_of(tag, [&](char c) { return is_word(c) || c == '.' || c == '-'; });
}

bool IsDigest(std::string_view digest) {
  constexpr std::string_view kAlgorithm = "sha256:";
  return digest.size() == kAlgorithm.size() + 64 && digest.starts_with(kAlgorithm) &&
         std::ranges::all_of(digest.substr(kAlgorithm.size()), IsLowerHex);
}

// Whether the first part of a name is a registry. Requires that a slash follows it.
bool ReadsAsRegistry(std::string_view first) {
  return first.find_first_of(".:") != std::string_view::npos || first == "localhost";
}

bool LooksLikeId(std::string_view name) {
  return name.size() == 64 && std::ranges::all_of(name, IsLowerHex);
}

}  // namespace

base::Result<Reference> Parse(std::string_view text) {
  if (text.empty()) return Bad(text, "is empty");
  if (LooksLikeId(text)) return Bad(text, "is an image's id, not a name");
  Reference reference;
  std::string_view rest = text;
  if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
    const std::string_view digest = rest.substr(at + 1);
    if (!IsDigest(digest)) return Bad(text, "its digest is not sha256: and 64 small hex digits");
    reference.digest = digest;
    rest = rest.substr(0, at);
  }
  const std::size_t colon = rest.rfind(':');
  const std::size_t last_slash = rest.rfind('/');
  const bool has_tag = colon != std::string_view::npos &&
                       (last_slash == std::string_view::npos || colon > last_slash);
  if (has_tag) {
    const std::string_view tag = rest.substr(colon + 1);
    if (!IsTag(tag)) return Bad(text, "its tag is not of the form letter or digit, then ._- too");
    reference.tag = tag;
    rest = rest.substr(0, colon);
  }
  const std::string_view first = rest.substr(0, rest.find('/'));
  const bool has_registry = first.size() < rest.size() && ReadsAsRegistry(first);
  reference.registry = has_registry ? first : kDefaultRegistry;
  if (reference.registry == "index.docker.io") reference.registry = kDefaultRegistry;
  if (!IsRegistry(reference.registry)) return Bad(text, "its registry is not a host and a port");
  reference.repository = has_registry ? rest.substr(first.size() + 1) : rest;
  if (!IsRepository(reference.repository)) {
    return Bad(text, "its repository is not made of small letters and digits, joined by . _ - /");
  }
  if (reference.registry == kDefaultRegistry &&
      reference.repository.find('/') == std::string::npos) {
    reference.repository.insert(0, kDefaultFolder);
  }
  if (reference.repository.size() > kLongestName) return Bad(text, "its repository is too long");
  if (reference.tag.empty() && reference.digest.empty()) reference.tag = "latest";
  return reference;
}

std::string Reference::Short() const {
  std::string text = repository;
  const std::string_view first = std::string_view(text).substr(0, text.find('/'));
  if (registry != kDefaultRegistry || ReadsAsRegistry(first)) {
    text.insert(0, registry + "/");
  } else if (text.starts_with(kDefaultFolder) &&
             text.find('/', kDefaultFolder.size()) == std::string::npos) {
    text.erase(0, kDefaultFolder.size());
  }
  if (!tag.empty()) text += ":" + tag;
  if (!digest.empty()) text += "@" + digest;
  return text;
}

bool Serves(const Reference& offered, const Reference& asked) {
  if (offered.registry != asked.registry || offered.repository != asked.repository) return false;
  return asked.digest.empty() ? offered.tag == asked.tag : offered.digest == asked.digest;
}

}  // namespace pondage::image
