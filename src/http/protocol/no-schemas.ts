/**
 * An option of Fastify: no route has its schemas, as routes are declared in `http/interface/`. So their compilers, a hundred files, are not
 * loaded.
 */
export const noSchemas = { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } }

function noCompiler(): never {
  throw new Error('a route has a schema of Fastify')
}
