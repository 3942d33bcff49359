// The API's description as a page, made of the server's own openapi.json.

import { byId, h } from "./dom.js";

// That fields may be null goes without saying.
const named = (types) => [...new Set([types].flat().filter((type) => type !== null && type !== "null"))];

function kind(schema) {
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return named(choices.filter((one) => one.type !== "null").map(kind)).join(" or ");
  if (schema.enum) return named(schema.enum).join(" | ");
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  const type = named(schema.type ?? "any").join(" or ");
  if (type === "array") return `list of ${kind(schema.items ?? {})}`;
  if (schema.minimum === undefined) return type;
  return schema.maximum === undefined ? `${type} from ${schema.minimum}` : `${type} from ${schema.minimum} to ${schema.maximum}`;
}

const table = (rows) => h("table", {}, h("tbody", {}, ...rows.map(([name, ...cells]) => h("tr", {}, h("th", { scope: "row" }, name), ...cells.map((cell) => h("td", {}, cell))))));
const fields = (schema) => table(Object.entries(schema.properties).map(([name, field]) => [name, kind(field), field.description ?? ""]));
const folded = (title, content) => h("details", {}, h("summary", {}, title), content);

function endpoint(base, path, method, operation) {
  const media = operation.requestBody?.content["application/json"];
  const parts = [h("h2", {}, h("span", { class: "method" }, method.toUpperCase()), ` ${base}${path}`), h("p", {}, `${operation.summary}. ${operation.responses["200"].description}`)];
  if (media) {
    const example = `curl -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(media.example)}' \\\n  ${location.origin}${base}${path}`;
    const errors = Object.entries(operation.responses).filter(([status]) => status !== "200");
    parts.push(h("pre", {}, example), folded("Fields", fields(media.schema)), folded("Errors", table(errors.map(([status, error]) => [status, error.description]))));
  }
  return h("section", { class: "card endpoint" }, ...parts);
}

/** What fields refer to by its name. */
const component = (name, schema) => h("section", { class: "card endpoint component" }, h("h2", {}, name), schema.description && h("p", {}, schema.description), schema.properties ? fields(schema) : h("p", {}, kind(schema)));

const place = new URL("openapi.json", location.href);
const description = await (await fetch(place)).json();
const base = new URL(description.servers[0].url, place).pathname; // with the path of a proxy, if there is one
for (const [path, methods] of Object.entries(description.paths)) {
  for (const [method, operation] of Object.entries(methods)) if (method === "get" || method === "post") byId("endpoints").append(endpoint(base, path, method, operation));
}
for (const [name, schema] of Object.entries(description.components.schemas)) byId("endpoints").append(component(name, schema));
