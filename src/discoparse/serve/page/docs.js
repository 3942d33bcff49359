// The API's description as a page, made of the server's own openapi.json.

import { byId, h } from "./dom.js";

const kind = (schema) => (schema.enum ? schema.enum.join(" | ") : schema.oneOf ? schema.oneOf.map(kind).join(" or ") : schema.$ref ? schema.$ref.split("/").at(-1) : schema.type === "array" ? `list of ${kind(schema.items ?? {})}` : [schema.type ?? "any"].flat().join(" or "));

function endpoint(base, path, method, operation) {
  const media = operation.requestBody?.content["application/json"];
  const parts = [h("h2", {}, h("span", { class: "method" }, method.toUpperCase()), ` ${base}${path}`), h("p", {}, `${operation.summary}. ${operation.responses["200"].description}`)];
  if (media) {
    const rows = Object.entries(media.schema.properties).map(([name, schema]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, kind(schema)), h("td", {}, schema.description ?? "")));
    const example = `curl -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(media.example)}' \\\n  ${location.origin}${place}${base}${path}`;
    parts.push(h("pre", {}, example), h("details", {}, h("summary", {}, "Fields"), h("table", {}, h("tbody", {}, ...rows))));
    const errors = Object.entries(operation.responses).filter(([status]) => status !== "200");
    parts.push(h("details", {}, h("summary", {}, "Errors"), h("table", {}, h("tbody", {}, ...errors.map(([status, error]) => h("tr", {}, h("th", { scope: "row" }, status), h("td", {}, error.description)))))));
  }
  return h("section", { class: "card endpoint" }, ...parts);
}

const place = location.pathname.slice(0, location.pathname.lastIndexOf("/api/v1/")); // not empty behind some proxies
const description = await (await fetch("openapi.json")).json();
const base = description.servers[0].url;
for (const [path, methods] of Object.entries(description.paths)) {
  for (const [method, operation] of Object.entries(methods)) if (method === "get" || method === "post") byId("endpoints").append(endpoint(base, path, method, operation));
}
