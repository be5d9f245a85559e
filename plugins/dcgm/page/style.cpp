// SPDX-License-Identifier: Apache-2.0
// The style and the script of the page. Each has its digest below it, which the policy names: after a change, the test
// DcgmPage.HasThePolicyOfItsScriptAndStyle prints the new digest.
#include "dcgm/page/page.hpp"

namespace slipway::dcgm {

// Every pair of colours has a contrast of 4.5 and more (WCAG 2.1, AA), lines and boxes 3 and more.
const char* const kPageStyle = R"(
:root{color-scheme:light dark;--paper:#f4f6f8;--card:#fff;--ink:#1b2530;--faint:#55606d;--edge:#7a828c;--rule:#d5dae0;
--fill:#2f6fb0;--track:#e3e8ee;--box:#dbe9fb;--good:#1a6b35;--note:#44719f;--attention:#8a5200;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--card:#161b22;--ink:#e6edf3;--faint:#9aa4af;--edge:#8b949e;
--rule:#30363d;--fill:#6ea8e0;--track:#2b323b;--box:#16304d;--good:#57c278;--note:#79b0e6;--attention:#e3b341;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
header,main,footer{max-width:1500px;margin:0 auto;padding:12px 16px}
h1{font-size:1.35rem;margin:0;overflow-wrap:anywhere}
h2{font-size:1.05rem;margin:0}
h3{font-size:.85rem;margin:12px 0 4px;color:var(--faint);font-weight:600}
p{margin:2px 0}
.faint{color:var(--faint)}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr));gap:14px;align-items:start}
.tile{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:12px 14px;min-width:0}
.head{display:flex;justify-content:space-between;gap:8px;align-items:baseline}
.level{font-weight:600;font-size:.85rem;white-space:nowrap}
.good{color:var(--good)}.note{color:var(--note)}.attention{color:var(--attention)}.bad{color:var(--bad)}
.tile.bad-tile{border-color:var(--bad)}.tile.attention-tile{border-color:var(--attention)}
.tile.bad-tile,.tile.attention-tile{color:var(--ink)}
dl{display:grid;grid-template-columns:6.6em 1fr;gap:3px 8px;margin:8px 0}
dt{color:var(--faint)}
dd{margin:0;font-variant-numeric:tabular-nums;display:flex;align-items:center;gap:8px;justify-content:flex-end}
svg{display:block;width:100%}
.bar{flex:1 1 60px;min-width:40px;height:8px}
dd span{white-space:nowrap;min-width:8.4em;text-align:right}
.track{fill:var(--track)}.fill{fill:var(--fill)}
.line{height:48px;border-bottom:1px solid var(--edge);background:var(--track);border-radius:3px 3px 0 0}
.line path{fill:none;stroke:var(--fill);stroke-width:1.6;vector-effect:non-scaling-stroke;stroke-linejoin:round;stroke-linecap:round}
.axis{display:flex;justify-content:space-between;font-size:.75rem;color:var(--faint)}
.mig rect{fill:var(--box);stroke:var(--note)}
.mig .free{fill:none;stroke:var(--edge);stroke-dasharray:4 3}
.mig text{fill:var(--ink);font:16px system-ui,sans-serif;text-anchor:middle}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.9rem}
th,td{text-align:left;padding:3px 8px 3px 0;vertical-align:top;border-bottom:1px solid var(--rule)}
th{color:var(--faint);font-weight:600}
td{overflow-wrap:anywhere}
.n{text-align:right;white-space:nowrap}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:8px 14px}
.scroll td,.scroll th{white-space:nowrap;padding-right:16px}
.tile table.mid{font-size:.85rem}
.mid td:first-child{white-space:nowrap}
.mig{margin:4px 0 8px}
ul{margin:6px 0;padding-left:1.1em}
li{overflow-wrap:anywhere}
.banner{border:1px solid currentColor;border-radius:8px;padding:8px 12px;background:var(--card);margin:8px 0}
main>h2{margin:20px 0 6px}
#stale[hidden]{display:none}
)";

const char* const kPageScript = R"(
"use strict";
const every = 1000 * Number(document.body.dataset.every);
setInterval(async () => {
  if (document.hidden) return;
  const stale = document.getElementById("stale");
  try {
    const answer = await fetch(location.pathname, {cache: "no-store"});
    if (!answer.ok) throw new Error(answer.status);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["summary", "gpus"]) document.getElementById(id).replaceWith(fresh.getElementById(id));
    stale.hidden = true;
  } catch (error) {
    stale.hidden = false;
  }
}, every);
)";

const char* const kPageStyleDigest = "sha256-xF1298FBfLHxqzcRheaH1m7hHLeWbgM9KV7d4RwgAd0=";
const char* const kPageScriptDigest = "sha256-fmtCCXCZHwm7MbchqYVlzZUuwxwZwR2Y1MZLorRgJV0=";

}  // namespace slipway::dcgm
