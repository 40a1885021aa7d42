#include "api/pki.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "manifest/data.h"

namespace pondage::api {

using base::Fail;
using base::Kind;

namespace {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* thing) const {
    Free(thing);
  }
};
using Bio = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kRenewBefore = 30 * kDay;

auto Failed(const char* what) {
  char text[256] = "unknown";
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  ERR_clear_error();
  return Fail(Kind::kInvalid, "PND-A030", "certificate", fmt::format("{}: {}", what, text));
}

std::string Drain(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
}

Bio Memory(const std::string& bytes) {
  return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

base::Result<Certificate> ParseCertificate(const std::string& pem) {
  const Bio bio = Memory(pem);
  Certificate certificate(bio ? PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr) : nullptr);
  if (!certificate) return Failed("cannot be read");
  return certificate;
}

base::Result<Key> ParseKey(const std::string& pem) {
  const Bio bio = Memory(pem);
  Key key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr) : nullptr);
  if (!key) return Failed("its key cannot be read");
  return key;
}

base::Result<KeyPair> Encode(const X509* certificate, const EVP_PKEY* key) {
  const Bio one(BIO_new(BIO_s_mem())), other(BIO_new(BIO_s_mem()));
  if (!one || !other || PEM_write_bio_X509(one.get(), certificate) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(other.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return Failed("cannot be written");
  }
  return KeyPair{Drain(one.get()), Drain(other.get())};
}

bool AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool SetSerial(X509* certificate) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] &= 0x7f;
  std::unique_ptr<BIGNUM, Deleter<BN_free>> number(BN_bin2bn(bytes, sizeof bytes, nullptr));
  return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool SetName(X509_NAME* name, const char* common_name) {
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(common_name), -1, -1,
                                    0) == 1;
}

// What both kinds of certificate have. A day is given to clocks that differ.
base::Result<Certificate> Draft(EVP_PKEY* key, const char* common_name, base::Instant now,
                                std::int64_t days) {
  Certificate certificate(X509_new());
  const std::int64_t seconds = now.unix_ms / 1000;
  if (!certificate || X509_set_version(certificate.get(), 2) != 1 ||
      !SetSerial(certificate.get()) ||
      !ASN1_TIME_set(X509_getm_notBefore(certificate.get()), seconds - kDay) ||
      !ASN1_TIME_set(X509_getm_notAfter(certificate.get()), seconds + days * kDay) ||
      X509_set_pubkey(certificate.get(), key) != 1 ||
      !SetName(X509_get_subject_name(certificate.get()), common_name)) {
    return Failed("cannot be made");
  }
  return certificate;
}

bool IsAddress(const std::string& name) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, name.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

bool IsWildcard(const std::string& name) {
  return name.empty() || name == "0.0.0.0" || name == "::";
}

std::vector<std::string> AllNames(const std::vector<std::string>& names) {
  std::vector<std::string> all = {"localhost", "127.0.0.1", "::1"};
  for (const std::string& name : names) {
    if (!IsWildcard(name) && std::ranges::find(all, name) == all.end()) all.push_back(name);
  }
  return all;
}

std::string AltNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : AllNames(names)) {
    text += (text.empty() ? "" : ",") + std::string(IsAddress(name) ? "IP:" : "DNS:") + name;
  }
  return text;
}

bool IsPair(const KeyPair& pair) {
  const auto certificate = ParseCertificate(pair.certificate_pem);
  const auto key = ParseKey(pair.key_pem);
  const bool fits =
      certificate && key && X509_check_private_key(certificate->get(), key->get()) == 1;
  ERR_clear_error();
  return fits;
}

}  // namespace

base::Result<KeyPair> MakeAuthority(base::Instant now) {
  const Key key(EVP_EC_gen("P-256"));
  if (!key) return Failed("no key could be made");
  TRY(const Certificate certificate, Draft(key.get(), "pondage CA", now, 3650));
  X509* raw = certificate.get();
  if (X509_set_issuer_name(raw, X509_get_subject_name(raw)) != 1 ||
      !AddExtension(raw, raw, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !AddExtension(raw, raw, NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !AddExtension(raw, raw, NID_subject_key_identifier, "hash") ||
      X509_sign(raw, key.get(), EVP_sha256()) == 0) {
    return Failed("cannot be signed");
  }
  return Encode(raw, key.get());
}

base::Result<KeyPair> MakeServerCertificate(const KeyPair& authority,
                                            const std::vector<std::string>& names,
                                            base::Instant now) {
  TRY(const Certificate issuer, ParseCertificate(authority.certificate_pem));
  TRY(const Key issuer_key, ParseKey(authority.key_pem));
  if (X509_check_private_key(issuer.get(), issuer_key.get()) != 1) {
    return Failed("of the authority does not fit its key");
  }
  const Key key(EVP_EC_gen("P-256"));
  if (!key) return Failed("no key could be made");
  TRY(const Certificate certificate, Draft(key.get(), "pondage", now, 365));
  X509* raw = certificate.get();
  if (X509_set_issuer_name(raw, X509_get_subject_name(issuer.get())) != 1 ||
      !AddExtension(raw, issuer.get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !AddExtension(raw, issuer.get(), NID_key_usage, "critical,digitalSignature") ||
      !AddExtension(raw, issuer.get(), NID_ext_key_usage, "serverAuth") ||
      !AddExtension(raw, issuer.get(), NID_subject_key_identifier, "hash") ||
      !AddExtension(raw, issuer.get(), NID_authority_key_identifier, "keyid:always") ||
      !AddExtension(raw, issuer.get(), NID_subject_alt_name, AltNames(names)) ||
      X509_sign(raw, issuer_key.get(), EVP_sha256()) == 0) {
    return Failed("cannot be signed");
  }
  return Encode(raw, key.get());
}

base::Result<bool> NeedsRenewal(const KeyPair& own, const KeyPair& authority,
                                const std::vector<std::string>& names, base::Instant now) {
  if (!IsPair(own)) return true;
  TRY(const Certificate certificate, ParseCertificate(own.certificate_pem));
  TRY(const Certificate issuer, ParseCertificate(authority.certificate_pem));
  time_t soon = now.unix_ms / 1000 + kRenewBefore;
  if (X509_cmp_time(X509_get0_notAfter(certificate.get()), &soon) <= 0) return true;
  if (X509_verify(certificate.get(), X509_get0_pubkey(issuer.get())) != 1) {
    ERR_clear_error();
    return true;
  }
  return std::ranges::any_of(AllNames(names), [&](const std::string& name) {
    const int found =
        IsAddress(name) ? X509_check_ip_asc(certificate.get(), name.c_str(), 0)
                        : X509_check_host(certificate.get(), name.data(), name.size(), 0, nullptr);
    return found != 1;
  });
}

std::string Kubeconfig(const std::string& server, const std::string& authority_pem,
                       const std::string& token, const std::string& space) {
  return fmt::format(
      "apiVersion: v1\n"
      "kind: Config\n"
      "clusters:\n"
      "- name: pondage\n"
      "  cluster:\n"
      "    server: {}\n"
      "    certificate-authority-data: {}\n"
      "users:\n"
      "- name: pondage\n"
      "  user:\n"
      "    token: {}\n"
      "contexts:\n"
      "- name: pondage\n"
      "  context:\n"
      "    cluster: pondage\n"
      "    user: pondage\n"
      "    namespace: {}\n"
      "current-context: pondage\n",
      server, manifest::ToBase64(authority_pem), token, space);
}

}  // namespace pondage::api
