// The bearer tokens of a server: hashed at rest, in one small file, made and revoked at run time.
//
// Thread rule: any thread (one lock). Invariant: what Create or Revoke answered is in the file.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/request.h"
#include "base/result.h"

namespace pondage::api {

struct Token {
  Identity identity;   // its name is the token's
  std::string sha256;  // of the secret, hexadecimal
};

class TokenStore {
 public:
  // `path` empty: kept in memory only. A missing file is an empty store.
  static base::Result<std::unique_ptr<TokenStore>> Open(std::string path);

  // The secret, which is nowhere else. kAlreadyExists, kInvalid, kUnavailable.
  base::Result<std::string> Create(Identity identity);
  base::Result<void> Revoke(const std::string& name);  // kNotFound, kUnavailable
  std::vector<Token> All() const;
  std::optional<Identity> Find(std::string_view secret) const;

 private:
  explicit TokenStore(std::string path) : path_(std::move(path)) {}
  base::Result<void> Load();
  base::Result<void> Save(const std::map<std::string, Token>& tokens) const;

  const std::string path_;
  mutable std::shared_mutex mutex_;
  std::map<std::string, Token> tokens_;  // by sha256
};

std::string Sha256Hex(std::string_view bytes);
// `bytes` random ones, hexadecimal.
std::string RandomHex(int bytes);

}  // namespace pondage::api
