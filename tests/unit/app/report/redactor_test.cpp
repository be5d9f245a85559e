// SPDX-License-Identifier: Apache-2.0
#include "app/report/redactor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ASecret : public ::testing::TestWithParam<const char*> {};

TEST_P(ASecret, IsRedacted) {
  const std::string redacted = Redactor().redact(GetParam());
  EXPECT_THAT(redacted, Not(HasSubstr("hunter2")));
  EXPECT_THAT(redacted, HasSubstr(Redactor::kRedacted));
}

INSTANTIATE_TEST_SUITE_P(
    InEveryPlace, ASecret,
    ::testing::Values(
        "password: hunter2", "password: two words hunter2", "  Password = 'x hunter2'", "PASSWORD=hunter2",
        "REGISTRY_PASSWORD=first hunter2", "export REGISTRY_TOKEN=a,b hunter2", R"({"password": "hunter2"})",
        R"({"auths": {"r.example": {"auth": "aHVudGVyhunter2"}}})", R"({"secret": {"name": "hunter2"}})",
        R"({"tokens": ["a", "hunter2"]})", R"({"content": "password = \"hunter2\"\n"})",
        R"({"content": "{\"token\": \"hunter2\"}"})", R"(text with {\"identitytoken\": \"hunter2\"} in it)",
        R"(  auth = "a\"b hunter2")", "{user: me, password: hunter2}", "password: |\n  first\n  hunter2\nuser: x",
        "auth:\n  user: x\n  word: hunter2\n", "tokens: [\n    one,\n    hunter2\n]",
        "oci://user:hunter2@registry.example/name", "https://hunter2@host/", "http://u:p@hunter2@h:3128",
        "GET /x?a=b&token=hunter2 failed", "https://s3.example/o?X-Amz-Signature=hunter2",
        "Authorization: Bearer hunter2", "sent header Bearer hunter2.abc", "basic dXNlcjpohunter2",
        "curl --password hunter2 x", "--registry-token=hunter2", "api_key: hunter2", "SIG=hunter2",
        "-----BEGIN RSA PRIVATE KEY-----\nMIhunter2\nhunter2==\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nhunter2", "id eyJhunter2.eyJzdWIi.c2ln used",
        "[plugins.cri.registry.configs.\"r\".auth]\n  password = \"hunter2\"",
        "posts to https://hooks.slack.com/services/T01/B02/hunter2 now", "hooks.slack.com/services/T/B/hunter2",
        R"({"url": "https:\/\/hooks.slack.com\/services\/T\/B\/hunter2"})",
        "https://discord.com/api/webhooks/1/hunter2", "https://x.webhook.office.com/webhookb2/hunter2",
        R"([{"name": "X_PASSWORD", "value": "hunter2"}])", R"({"value": "hunter2", "key": "A_TOKEN"})",
        "- name: X_PASSWORD\n  value: hunter2", "env [{name: X_PASSWORD, value: hunter2}] of a log line",
        R"(["--verbose", "--token", "hunter2", "--any"])", R"(ran ["--token", "hunter2"] in vain)",
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=hunter2==;EndpointSuffix=x", "SharedAccessKey=hunter2",
        "  psk=hunter2", "wpa-psk: hunter2", "PresharedKey = hunter2", "hmac: hunter2", "hmac_key = hunter2",
        "snmp_community: hunter2", "rocommunity hunter2 10.0.0.0/8", "snmp-server community hunter2 RO",
        "snmpwalk -v2c -c hunter2 host", "ran podman login -u me -p hunter2 nvcr.io", "sshpass -p hunter2 ssh host",
        "skopeo copy --src-creds me:hunter2 a b", "admin: $2y$10$abcdefghijklmnopqrstuvhunter2",
        "root:$6$salt$abcdefghijklmnophunter2:19000:0"));

class NoSecret : public ::testing::TestWithParam<const char*> {};

TEST_P(NoSecret, StaysAsItIs) { EXPECT_EQ(Redactor().redact(GetParam()), GetParam()); }

INSTANTIATE_TEST_SUITE_P(InPlainText, NoSecret,
                         ::testing::Values("driver: 6 changes", "oci://registry.example/nvidia/driver@sha256:00ff",
                                           "digest: sha256:00ff", "  pass  driver.kernel: 6.1.0-50-amd64",
                                           "name: X_PASSWORD", R"(ran ["--verbose", "value"])", "value: 7",
                                           "a community of users", "docker run -p 8080:80 image", "echo $1$2 $6$x",
                                           "hooks.slack.com is down", "tar -c x", "mail to someone@example.com",
                                           "authors: somebody", "config: all-balanced",
                                           "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"));

TEST(Redactor, RedactsLearnedSecretsEverywhere) {
  Redactor redactor;
  redactor.learn("source: oci://me:hunter2%21x@registry.example/driver");
  redactor.learn(R"({"auths": {"r.example": {"auth": "bWU6Y29ycmVjdGhvcnNl"}}})");  // me:correcthorse
  const std::string redacted = redactor.redact("cannot log in as me with hunter2!x, nor hunter2%21x, nor correcthorse");
  EXPECT_THAT(redacted, Not(HasSubstr("hunter2")));
  EXPECT_THAT(redacted, Not(HasSubstr("correcthorse")));
  EXPECT_THAT(redacted, HasSubstr("cannot log in as me"));
}

TEST(Redactor, KeepsJsonAsJsonWithAllElseInIt) {
  const std::string redacted = Redactor().redact(R"({"a": [1, "x"], "password": "hunter2", "b": {"token": null}})");
  EXPECT_EQ(Json::parse(redacted),
            Json::parse(R"({"a": [1, "x"], "password": "[blotted out]", "b": {"token": null}})"));
}

/// 60 secrets, each planted as "hunterNN" in another form of YAML, or of a token.
constexpr const char* kPlanted = R"yaml(# a comment with password: hunter01
DB_PASSWORD: &p |
  hunter02 begins
  hunter03 ends
alias: *p
X_PASSWORD: !!str |
  hunter04
API_TOKEN: "hunter05
  hunter06"
plain_secret: hunter07 goes
  on with hunter08
Z_PASSWORD: # a comment
  hunter09
"MY_P\x41SSWORD": hunter10
? Q_PASSWORD
: hunter11
A_TOKEN: 'it''s hunter12'
B_TOKEN: "a \"hunter13\" b"
C_TOKEN: >-
  hunter14

  hunter15
D_TOKEN: |2+
    hunter16
E_TOKEN: !!str "hunter17"
flow: {password: hunter18, "token": "hunter19", list: [{secret: hunter20}]}
F_TOKEN: [hunter21, 'hunter22', {deep: hunter23}]
G_TOKEN:
- hunter24
- - hunter25
- key: hunter26
H_TOKEN:
  any: hunter27
  more: {inner: hunter28}
'I_TOKEN' : hunter29
J_TOKEN: &anchor hunter30
used: [*anchor]
base: &base {password: hunter31}
merged: *base
client-key-data: hunter32
NGC_KEY: hunter33
proxy: someone:hunter34@proxy.example:3128
url: https://someone:hunter35@proxy.example:3128/
key_of_nvidia: nvapi-hunter36abcdefgh
github: ghp_hunter37abcdefghijkl
gitlab: [glpat-hunter38abcdefgh]
amazon: AKIAhunter39ABCDEF
slack: xoxb-hunter40-abcdefgh
command: mysql -u root -phunter41 db
fetch: curl -u someone:hunter42 https://host.example/
header: "Authorization: Bearer hunter43abc"
script: |
  export TOKEN=hunter44
  tool --password hunter45
json: '{"password": "hunter46"}'
pem: |
  -----BEGIN PRIVATE KEY-----
  MIIhunter47
  -----END PRIVATE KEY-----
env: {REGISTRY_PASSWORD: hunter48}
hook: https://hooks.slack.com/services/T01/B02/hunter49
variables:
- name: Y_PASSWORD
  value: hunter50
- {value: hunter51, name: Z_TOKEN}
- key: NGC_API_KEY
  value: [hunter52, {any: hunter53}]
arguments: ["--user", "me", "--token", "hunter54"]
more:
- --registry-password
- hunter55
azure: DefaultEndpointsProtocol=https;AccountName=a;AccountKey=hunter56==
wifi: {ssid: here, psk: hunter57}
hmac: hunter58
snmp: {community: hunter59}
snmpd: |
  rocommunity hunter60 10.0.0.0/8
kept: all-balanced
arguments_kept: [--verbose, "plain"]
image: registry.example:5000/nvidia/driver@sha256:00ff
)yaml";

TEST(Redactor, KnowsASecretInEachFormOfYaml) {
  for (int i = 1; i <= 60; ++i) {
    const std::string name = std::string("hunter") + (i < 10 ? "0" : "") + std::to_string(i);
    ASSERT_THAT(kPlanted, HasSubstr(name)) << "it is planted";
  }
  Redactor redactor;
  redactor.learn_yaml(kPlanted);
  const std::string redacted = redactor.redact_yaml(kPlanted);
  EXPECT_THAT(redacted, Not(HasSubstr("hunter")));
  EXPECT_THAT(redacted, HasSubstr("kept: all-balanced"));
  EXPECT_THAT(redacted, HasSubstr("plain"));
  EXPECT_THAT(redacted, HasSubstr("registry.example:5000/nvidia/driver@sha256:00ff"));
  EXPECT_THAT(redacted, HasSubstr("DB_PASSWORD: "));
  const std::string log =
      "hunter02 begins; hunter07 goes on with hunter08; it's hunter12; hunter31; hunter34; hunter48";
  EXPECT_THAT(redactor.redact("told: " + log), Not(HasSubstr("hunter"))) << "what it learned, in what others print";
}

TEST(Redactor, LeavesOutWhatIsNotYaml) {
  for (const char* text :
       {"a: [\npassword: hunter2\n", "a: b: c\npassword: hunter2", "password: hunter2\npassword: hunter2\n"}) {
    const std::string redacted = Redactor().redact_yaml(text);
    EXPECT_THAT(redacted, HasSubstr("left out")) << text;
    EXPECT_THAT(redacted, Not(HasSubstr("hunter2"))) << text;
  }
}

// Before the fix, the time grew with the product of text and secrets: 32,000 tokens in 0.9 MB took 5.6 s, and four
// times as long for each doubling.
TEST(Redactor, FindsManySecretsInOnePass) {
  Redactor redactor;
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "a" + std::to_string(i) + "_token: planted" + std::to_string(i) + "\n";
  redactor.learn(text);
  EXPECT_THAT(redactor.redact("log: planted7 and planted39999, " + text), Not(HasSubstr("planted")));
  std::string keys;
  for (int i = 0; i < 20'000; ++i) keys += "-----BEGIN PRIVATE KEY-----\nplanted\n";
  EXPECT_THAT(Redactor().redact(keys), Not(HasSubstr("planted")));
  std::string nested;
  for (int i = 0; i < 2'000; ++i) nested += std::string(static_cast<std::size_t>(i), ' ') + "token:\n";
  EXPECT_FALSE(Redactor().redact(nested + std::string(2'001, ' ') + "planted").empty());
}

/// Returns the work per character for one line that repeats this text.
double work_of(const std::string& repeated, std::size_t times) {
  std::string line;
  for (std::size_t i = 0; i < times; ++i) line += repeated;
  std::size_t looked_at = 0;
  (void)find_secrets(line, &looked_at);
  return static_cast<double>(looked_at) / static_cast<double>(line.size());
}

// Before the fix, the line was searched from its beginning for each word, to the end of its word for each name, to the
// next letter for each blank: one line of 500,000 words took hours.
TEST(Redactor, ChecksALineOfAnyLengthEquallyOftenForEachLetter) {
  for (const char* repeated : {"-p1 ",
                               "mysql -p1 ",
                               "curl -u a:b ",
                               "word ",
                               " ",
                               "\t",
                               "token=",
                               "token:",
                               "password = ",
                               "--token ",
                               "://",
                               "a://b@",
                               "a:b@",
                               "basic ",
                               "bearer x ",
                               "\"",
                               "token=\"",
                               "token='",
                               "token=\\\"",
                               "token\\=\"",
                               "token: {",
                               "a.b-c",
                               "-----BEGIN ",
                               "-----BEGIN PRIVATE KEY-----",
                               "hooks.slack.com/",
                               "name: a_token, ",
                               "[",
                               "eyJ.",
                               "-",
                               "\\",
                               "token\\\\",
                               "snmp -c ",
                               "community ",
                               "export ",
                               "token ]\""}) {
    const double few = work_of(repeated, 1'000);
    const double many = work_of(repeated, 8'000);
    EXPECT_LE(many, 1.5 * few + 1) << repeated;
    EXPECT_LE(many, 64) << repeated;
  }
  const auto lines = [](std::size_t names) {  // before the fix, each name searched the lines below
    std::string text;
    for (std::size_t i = 0; i < names; ++i) text += "token: ";
    text += "{\n" + std::string(names, ' ');
    std::size_t looked_at = 0;
    (void)find_secrets(std::string(names, ' ') + text + "x", &looked_at);
    return static_cast<double>(looked_at) / static_cast<double>(text.size());
  };
  EXPECT_LE(lines(8'000), 1.5 * lines(1'000) + 1);
}

TEST(Redactor, ShowsNothingWithTooManySecrets) {
  Redactor redactor;
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "token: planted" + std::to_string(i) + "-and-more\n";
  redactor.learn(text);
  EXPECT_THAT(redactor.redact("planted199999-and-more"), HasSubstr("left out"));
  EXPECT_THAT(redactor.redact_yaml("a: planted199999-and-more"), HasSubstr("left out"));
}

TEST(SecretSearch, FindsTheLongestOfThoseThatOverlap) {
  const SecretSearch search({"abc", "abcdef", "cdefgh", "xyz"});
  const auto found = search.find("-abcdefgh-xyz-abc-abd");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].begin, 1U);
  EXPECT_EQ(found[0].end, 9U);
  EXPECT_EQ(found[1].begin, 10U);
  EXPECT_EQ(found[2].end, 17U);
}

TEST(SecretName, IsThatOfAValueAndNotOfAReference) {
  for (const char* name : {"psk", "wpa-psk", "AccountKey", "snmp_community", "hmac", "password", "DB_PASSWORD",
                           "NGC_KEY", "client-key-data", "registry_auth", "identitytoken"})
    EXPECT_TRUE(is_secret_name(name)) << name;
  for (const char* name : {"key", "sign_key", "authors", "config", "compass", "PWD", "OLDPWD"})
    EXPECT_FALSE(is_secret_name(name)) << name;
  EXPECT_TRUE(is_secret_key("env.DB_PASSWORD"));
  EXPECT_FALSE(is_secret_key("signing.password.file"));
  EXPECT_TRUE(has_secret(Json::parse(R"({"env": {"A_TOKEN": "x"}})")));
  EXPECT_TRUE(has_secret(Json::parse(R"([{"password": 7}])")));
  EXPECT_TRUE(has_secret(Json::parse(R"([{"name": "A_TOKEN", "value": "x"}])")));
  EXPECT_TRUE(has_secret(Json::parse(R"(["--token", "x"])")));
  EXPECT_FALSE(has_secret(Json::parse(R"([{"name": "A", "value": "x"}, "--token=", "--token"])")));
  EXPECT_FALSE(has_secret(Json::parse(R"({"name": "A_TOKEN", "value": {"file": "/etc/x"}})")));
  EXPECT_FALSE(has_secret(Json::parse(R"({"password": {"file": "/etc/x"}, "token": "", "auth": null})")));
}

TEST(Redactor, AcceptsBinaryData) {
  const std::string bytes = std::string("\xff\xfe password: \xff hunter2\n\0 x", 27);
  EXPECT_THAT(Redactor().redact(bytes), Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace slipway::app
