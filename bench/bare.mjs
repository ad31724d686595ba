// The counterparts: each does only the necessary work, as simply as Node can.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { hash, verify } from '@node-rs/argon2'
import { openSqliteDatabase } from '../src/stores/sqlite/sqlite-database.ts'
import { sql } from '../src/stores/sql.ts'

const [what, ...values] = process.argv.slice(2)
const kinds = {
  /** Responds with a JSON document. */
  json(text) {
    const value = JSON.parse(text)
    return (_request, response) => {
      response.setHeader('content-type', 'application/json; charset=utf-8')
      response.end(JSON.stringify(value))
    }
  },
  /**
   * Stores a file in place of the previous one: hashed (with `isHashed`), written and durable before the
   * response. The old file is deleted last, because memory that it frees is quickly available to the next
   * writer, which should not always be the same side of the comparison.
   */
  upload(folder, isHashed) {
    let count = 0
    const name = () => join(folder, `${isHashed}-${count}`)
    return async (request, response) => {
      const old = name()
      count++
      const file = await open(name(), 'wx')
      const digest = isHashed === 'true' ? createHash('sha256') : undefined
      for await (const chunk of request) {
        digest?.update(chunk)
        await file.write(chunk)
      }
      await file.sync()
      await file.close()
      await rm(old, { force: true })
      response.end(digest?.digest('hex'))
    }
  },
  /** Sends a file. */
  download(path, size) {
    return (_request, response) => {
      response.setHeader('content-length', Number(size))
      createReadStream(path).pipe(response)
    }
  },
  /** Commits a row with the database and the settings of the store. */
  async commit(path) {
    const database = await openSqliteDatabase(path)
    await database.run(sql`CREATE TABLE bare (id INTEGER PRIMARY KEY, value TEXT NOT NULL)`)
    return async (_request, response) => {
      await database.run(sql`INSERT INTO bare (value) VALUES (${'x'.repeat(300)})`)
      response.end()
    }
  },
}

if (what === 'argon2id') await verifyAlways(Number(values[0]))
else {
  const server = createServer(await kinds[what](...values))
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
  process.on('disconnect', () => process.exit())
}

/** Verifies this many passwords at once for the given number of milliseconds, and returns how many were verified. */
async function verifyAlways(concurrency) {
  // The same priority as in the service, so that other work on the machine affects both equally.
  setPriority(10)
  const stored = await hash('bench-Password-12', { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  const answer = async ms => {
    const begun = performance.now()
    let count = 0
    const line = async () => {
      for (; performance.now() < begun + ms; count++) await verify(stored, 'bench-Password-12')
    }
    await Promise.all(Array.from({ length: concurrency }, line))
    process.send({ rate: (count * 1000) / (performance.now() - begun) })
  }
  process.on('message', ms => void answer(ms))
  process.on('disconnect', () => process.exit())
  process.send({ port: 0 })
}
