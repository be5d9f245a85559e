// SPDX-License-Identifier: Apache-2.0
#include "driver/enroll/enroll_tool.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <slipway/testing/fake_host.hpp>
#include <slipway/text.hpp>

#include "driver/build/description.hpp"
#include "driver/component/driver.hpp"
#include "driver/enroll/signing_key.hpp"
#include "driver/module/key_id.hpp"
#include "tests/unit/base/command_line/run_tool.hpp"
#include "tests/unit/plugins/driver/test_signer.hpp"

namespace slipway::driver {
namespace {

using slipway::testing::FakeHost;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kMokGuid = "605dab50-e046-4300-abb6-3dd810dd8b23";

struct EnrollOutput final : ToolIo {
  void print(std::string_view more) override { text += more; }
  void log(std::string_view) override {}
  void progress(std::string_view, std::uint64_t, std::uint64_t) override {}
  Result<Json> core(std::string_view, const Json&) override { return Error{ErrorCode::unsupported, "no", {}, {}, {}}; }
  std::string text;
};

std::string bytes_in(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Enroll : public ::testing::Test {
 protected:
  Enroll() {
    host.directory("/etc").file("/etc/hostname", "gpu-node-7\n");
    word = host.root().at("/word").string();
    host.file("/word", "one-time-word\n", 0600);
  }
  /// Makes it a machine that booted by EFI, with mokutil.
  void boots_by_efi() {
    host.live("6.1.0-50-amd64").directory("/sys/firmware/efi/efivars").file("/usr/bin/mokutil", "", 0755);
    host.does(import_line(), [this]() -> Result<ProcessOutput> {
      hash = bytes_in(file("/etc/slipway/mok.der.hash"));
      host.file(std::string("/sys/firmware/efi/efivars/MokNew-") + kMokGuid,
                std::string(4, '\7') + testing::efi_signature_list(bytes_in(file("/etc/slipway/mok.der"))));
      return ProcessOutput{};
    });
  }
  static std::vector<std::string> import_line() {
    return {"mokutil", "--import", "/etc/slipway/mok.der", "--hash-file", "/etc/slipway/mok.der.hash"};
  }
  std::filesystem::path file(const std::string& path) const { return host.root().at(path); }
  /// Returns what the tool prints; its error if it fails.
  std::string run(std::vector<std::string> words) {
    EnrollOutput io;
    const auto done = slipway::testing::run_tool(DriverTools{}, "enroll", words, host, io);
    return done ? io.text : to_text(done.error());
  }
  Json json(std::vector<std::string> words) {
    words.insert(words.end(), {"-o", "json"});
    const std::string text = run(words);
    const Json value = Json::parse(text, nullptr, false);
    EXPECT_TRUE(value.is_object()) << text;
    return value;
  }

  FakeHost host;
  std::string word;
  std::string hash;  ///< what mokutil got
};

TEST_F(Enroll, OfARootPreparesAKeyPairForModulesAlone) {
  const Json answer = json({});
  EXPECT_EQ(answer["state"], "prepared");
  EXPECT_EQ(answer["made"], true);
  EXPECT_EQ(answer["name"], "slipway kernel modules, gpu-node-7");
  EXPECT_TRUE(answer["secureBoot"].is_null());
  EXPECT_THAT(answer["next"].dump(), HasSubstr("mokutil --import /etc/slipway/mok.der"));
  EXPECT_TRUE(check_key_pair(file("/etc/slipway/mok.key").string(), file("/etc/slipway/mok.der").string()));
  struct stat info {};
  ASSERT_EQ(::stat(file("/etc/slipway/mok.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_THAT(host.ran(), IsEmpty());
}

TEST_F(Enroll, TakesTheExistingPair) {
  json({});
  const std::string before = bytes_in(file("/etc/slipway/mok.der"));
  EXPECT_EQ(json({})["made"], false);
  EXPECT_EQ(bytes_in(file("/etc/slipway/mok.der")), before);
  host.without("/etc/slipway/mok.key");
  EXPECT_THAT(run({}), AllOf(HasSubstr("/etc/slipway/mok.der exists, and /etc/slipway/mok.key does not"),
                             HasSubstr("--key and --certificate")));
  const auto other = make_signing_key("other");
  ASSERT_TRUE(other);
  host.file("/etc/slipway/mok.key", other->key, 0600);
  EXPECT_THAT(run({}), HasSubstr("does not belong to the key"));
  host.file("/etc/slipway/mok.der", other->certificate);
  EXPECT_EQ(json({})["name"], "other");
}

TEST_F(Enroll, SaysWhoseKeyItTakesAndRefusesACertificateThatAnotherUserCouldHaveWritten) {
  json({});
  EXPECT_THAT(run({}), HasSubstr("Took the key pair that was there: /etc/slipway/mok.key and /etc/slipway/mok.der"));
  ASSERT_EQ(::chmod(file("/etc/slipway/mok.der").c_str(), 0666), 0);
  EXPECT_THAT(run({}), HasSubstr("/etc/slipway/mok.der"));
  EXPECT_THAT(run({}), Not(HasSubstr("mokutil --import")));
}

TEST_F(Enroll, RegistersTheCertificateWithThePasswordAsAHashAlone) {
  boots_by_efi();
  const Json answer = json({"--password-file", word});
  EXPECT_EQ(answer["state"], "waiting") << answer;
  EXPECT_THAT(hash, ::testing::StartsWith("$6$"));
  EXPECT_FALSE(std::filesystem::exists(file("/etc/slipway/mok.der.hash")));
  ASSERT_EQ(host.ran().size(), 1U);
  EXPECT_THAT(joined(host.ran().front(), " "), Not(HasSubstr("one-time-word")));
  EXPECT_THAT(answer["next"].dump(),
              AllOf(HasSubstr("MokManager"), HasSubstr("Enroll MOK"), Not(HasSubstr("--import"))));
}

TEST_F(Enroll, IsDoneOnce) {
  boots_by_efi();
  json({"--password-file", word});
  EXPECT_EQ(json({"--password-file", word})["state"], "waiting");
  EXPECT_EQ(host.ran().size(), 1U) << "registered already";
  host.file(std::string("/sys/firmware/efi/mok-variables/MokListRT"),
            testing::efi_signature_list(bytes_in(file("/etc/slipway/mok.der"))));
  const Json enrolled = json({"--password-file", word});
  EXPECT_EQ(enrolled["state"], "enrolled");
  EXPECT_THAT(enrolled["next"], IsEmpty());
  EXPECT_EQ(host.ran().size(), 1U);
  EXPECT_THAT(run({}), HasSubstr("is enrolled: this machine trusts modules signed by it"));
}

// The kernel's keyrings .machine and .platform have it, where the list itself cannot be read.
TEST_F(Enroll, RecognizesAKeyThatTheKernelLists) {
  boots_by_efi();
  json({"--key", "/etc/slipway/mok.key"});
  const auto id = key_of_certificate(bytes_in(file("/etc/slipway/mok.der")));
  ASSERT_TRUE(id);
  host.file("/proc/keys",
            "0d5bcb2f I------     1 perm 1f010000     0     0 asymmetri slipway kernel modules, gpu-node-7: " +
                id->key + ": X509.rsa " + id->key.substr(32) + " []\n");
  EXPECT_EQ(json({"--password-file", word})["state"], "enrolled");
  EXPECT_THAT(host.ran(), IsEmpty());
}

TEST_F(Enroll, WithoutMokutilOrAPasswordNamesTheCommands) {
  host.live("6.1.0-50-amd64").directory("/sys/firmware/efi/efivars");
  EXPECT_THAT(run({"--password-file", word}),
              AllOf(HasSubstr("install mokutil"), HasSubstr("`mokutil --import /etc/slipway/mok.der`"),
                    HasSubstr("signing: {key: {file: /etc/slipway/mok.key}, certificate: /etc/slipway/mok.der}")));
  EXPECT_THAT(host.ran(), IsEmpty());
}

TEST_F(Enroll, OnAMachineWithoutEfiRegistersNothing) {
  host.live("6.1.0-50-amd64").file("/usr/bin/mokutil", "", 0755).answers(import_line(), {});
  EXPECT_THAT(run({"--password-file", word}), HasSubstr("did not boot by EFI"));
  EXPECT_THAT(host.ran(), IsEmpty());
}

TEST_F(Enroll, SaysWhatMokutilSaid) {
  host.live("6.1.0-50-amd64").directory("/sys/firmware/efi/efivars").file("/usr/bin/mokutil", "", 0755);
  host.answers(import_line(), {.exit_status = 255, .errors = "EFI variables are not supported on this system\n"});
  EXPECT_THAT(run({"--password-file", word}), AllOf(HasSubstr("exit status 255"), HasSubstr("EFI variables are not")));
  EXPECT_FALSE(std::filesystem::exists(file("/etc/slipway/mok.der.hash")));
}

TEST_F(Enroll, RefusesAPasswordThatCannotBeTypedAndPathsThatAreNotAbsolute) {
  boots_by_efi();
  host.file("/word", "\n", 0600);
  EXPECT_THAT(run({"--password-file", word}), HasSubstr("1 to 256 printable ASCII characters"));
  EXPECT_THAT(run({"--key", "mok.key"}), HasSubstr("--key is not an absolute path"));
  EXPECT_THAT(host.ran(), IsEmpty());
}

// mokutil reads DER; `signing.certificate` may be PEM.
TEST_F(Enroll, GivesMokutilACertificateInItsForm) {
  const auto pair = make_signing_key("as PEM");
  ASSERT_TRUE(pair);
  const auto der = certificate_as_der(pair->certificate);
  ASSERT_TRUE(der);
  EXPECT_EQ(*der, pair->certificate);
  EXPECT_FALSE(certificate_as_der("no certificate"));
  const unsigned char* bytes = reinterpret_cast<const unsigned char*>(der->data());
  X509* const certificate = d2i_X509(nullptr, &bytes, static_cast<long>(der->size()));
  BIO* const pem = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(pem, certificate);
  char* begin = nullptr;
  const long size = BIO_get_mem_data(pem, &begin);
  host.file("/etc/slipway/mok.pem", std::string(begin, static_cast<std::size_t>(size)));
  BIO_free(pem);
  X509_free(certificate);
  host.file("/etc/slipway/mok.key", pair->key, 0600);
  EXPECT_THAT(run({"--certificate", "/etc/slipway/mok.pem"}), HasSubstr("`mokutil --import /etc/slipway/mok.pem.der`"));
  EXPECT_EQ(bytes_in(file("/etc/slipway/mok.pem.der")), *der);
}

}  // namespace
}  // namespace slipway::driver
