#include "api/tokens.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <boost/json.hpp>
#include <mutex>

#include "api/private_file.h"
#include "manifest/object.h"

namespace pondage::api {

namespace json = boost::json;
using base::Fail;
using base::Kind;

namespace {

std::string Hex(const unsigned char* bytes, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

std::vector<std::string> Texts(const json::object& from, std::string_view key) {
  std::vector<std::string> texts;
  const auto* value = from.if_contains(key);
  if (!value || !value->is_array()) return texts;
  for (const auto& text : value->get_array()) {
    if (text.is_string()) texts.emplace_back(text.get_string());
  }
  return texts;
}

std::optional<Token> Decode(const json::value& value) {
  const auto* object = value.if_object();
  if (!object) return std::nullopt;
  const auto* name = object->if_contains("name");
  const auto* hash = object->if_contains("sha256");
  if (!name || !name->is_string() || !hash || !hash->is_string()) return std::nullopt;
  Token token;
  token.identity.name = std::string(name->get_string());
  const auto* admin = object->if_contains("admin");
  token.identity.admin = admin && admin->is_bool() && admin->get_bool();
  token.identity.namespaces = Texts(*object, "namespaces");
  token.identity.verbs = Texts(*object, "verbs");
  token.sha256 = std::string(hash->get_string());
  return token;
}

}  // namespace

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  REQUIRE(EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) == 1);
  return Hex(digest, size);
}

std::string RandomHex(int bytes) {
  unsigned char random[64];
  REQUIRE(bytes > 0 && bytes <= 64);
  REQUIRE(RAND_bytes(random, bytes) == 1);
  return Hex(random, static_cast<std::size_t>(bytes));
}

base::Result<std::unique_ptr<TokenStore>> TokenStore::Open(std::string path) {
  std::unique_ptr<TokenStore> store(new TokenStore(std::move(path)));
  if (!store->path_.empty()) TRY_DO(store->Load());
  return store;
}

base::Result<void> TokenStore::Load() {
  auto bytes = ReadFile(path_);
  if (!bytes && bytes.error().kind == Kind::kNotFound) return {};
  if (!bytes) return std::unexpected(bytes.error());
  auto document = manifest::ParseJson(*bytes);
  const json::object* object = document ? document->if_object() : nullptr;
  const json::value* tokens = object ? object->if_contains("tokens") : nullptr;
  if (!tokens || !tokens->is_array()) {
    return Fail(Kind::kCorrupt, "PND-A024", path_, "is no file of tokens");
  }
  for (const auto& one : tokens->get_array()) {
    auto token = Decode(one);
    if (!token) return Fail(Kind::kCorrupt, "PND-A024", path_, "holds a malformed token");
    std::string hash = token->sha256;
    tokens_.emplace(std::move(hash), *std::move(token));
  }
  return {};
}

base::Result<void> TokenStore::Save(const std::map<std::string, Token>& tokens) const {
  if (path_.empty()) return {};
  json::array list;
  for (const auto& [hash, token] : tokens) {
    list.push_back({{"name", token.identity.name},
                    {"admin", token.identity.admin},
                    {"namespaces", json::value_from(token.identity.namespaces)},
                    {"verbs", json::value_from(token.identity.verbs)},
                    {"sha256", hash}});
  }
  return WritePrivateFile(path_, json::serialize(json::object{{"tokens", std::move(list)}}) + "\n");
}

base::Result<std::string> TokenStore::Create(Identity identity) {
  const bool named = !identity.name.empty() && identity.name.size() <= 63 &&
                     std::ranges::all_of(identity.name, [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '@';
                     });
  if (!named) {
    return Fail(Kind::kInvalid, "PND-A025", identity.name,
                "a token's name has 1 to 63 letters, digits, and any of - . _ @");
  }
  if (!identity.admin && identity.namespaces.empty()) {
    return Fail(Kind::kInvalid, "PND-A026", identity.name,
                "a token that is not an administrator's needs a namespace");
  }
  const std::unique_lock lock(mutex_);
  for (const auto& [hash, token] : tokens_) {
    if (token.identity.name == identity.name) {
      return Fail(Kind::kAlreadyExists, "PND-A027", identity.name, "a token of that name exists");
    }
  }
  std::string secret = "pnd_" + RandomHex(32);
  std::string hash = Sha256Hex(secret);
  auto tokens = tokens_;
  tokens.emplace(hash, Token{std::move(identity), hash});
  TRY_DO(Save(tokens));
  tokens_ = std::move(tokens);
  return secret;
}

base::Result<void> TokenStore::Revoke(const std::string& name) {
  const std::unique_lock lock(mutex_);
  auto tokens = tokens_;
  if (std::erase_if(tokens,
                    [&](const auto& entry) { return entry.second.identity.name == name; }) == 0) {
    return Fail(Kind::kNotFound, "PND-A028", name, "there is no token of that name");
  }
  TRY_DO(Save(tokens));
  tokens_ = std::move(tokens);
  return {};
}

std::vector<Token> TokenStore::All() const {
  const std::shared_lock lock(mutex_);
  std::vector<Token> all;
  for (const auto& [hash, token] : tokens_) all.push_back(token);
  std::ranges::sort(all, {}, [](const Token& token) { return token.identity.name; });
  return all;
}

std::optional<Identity> TokenStore::Find(std::string_view secret) const {
  const std::string hash = Sha256Hex(secret);
  const std::shared_lock lock(mutex_);
  const auto found = tokens_.find(hash);
  if (found == tokens_.end()) return std::nullopt;
  return found->second.identity;
}

}  // namespace pondage::api
