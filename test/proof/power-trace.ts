import { readFileSync } from 'node:fs'

/** A system call that changed something below a folder, to which the paths are relative, or that told somebody something. */
export type Call =
  | { readonly kind: 'open'; readonly path: string; readonly truncates: boolean }
  | { readonly kind: 'mkdir' | 'remove'; readonly path: string }
  | { readonly kind: 'rename' | 'link'; readonly path: string; readonly to: string }
  | { readonly kind: 'write'; readonly path: string; readonly offset: number | 'end'; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  /** Covers the calls that had returned when it began: those before this number. */
  | { readonly kind: 'sync'; readonly path: string; readonly covers: number }
  /** An answer of a service, or a line that a command printed. */
  | { readonly kind: 'answer'; readonly trace: number }

const RECORDED = [
  'open,openat,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,copy_file_range,sendfile,splice,mmap',
  'fsync,fdatasync,sync_file_range,syncfs,io_uring_setup',
  'rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,mkdir,mkdirat',
]
/** -D: signals go to the program. -y: paths of descriptors. -xx: texts in hexadecimal, none shortened. -ttt: to merge recordings. */
const OPTIONS = '-D -f --seccomp-bpf -y -xx -ttt -s 8388608'.split(' ')

/** The command that records the calls of the program behind it, whose process stays the child of the caller. */
export const underStrace = (file: string): string[] => [
  'strace',
  ...OPTIONS,
  '-o',
  file,
  '-e',
  `trace=${RECORDED.join()}`,
]

interface Line {
  readonly trace: number
  readonly process: string
  readonly time: number
  readonly text: string
}

/**
 * Reads recordings of strace, of processes that may have run at the same time, in the order in which the calls returned.
 * @param folder absolute; what happened elsewhere is left out
 * @throws {Error} for a call that this reader does not know and that may have changed something in the folder
 */
export function readTraces(files: readonly string[], folder: string): Call[] {
  const lines = files.flatMap((file, trace) => linesOf(readFileSync(file, 'latin1'), trace))
  const calls: Call[] = []
  const reader = new CallReader(`${folder}/`)
  const begun = new Map<string, { readonly text: string; readonly covers: number }>()
  for (const { trace, process, text } of lines.sort((a, b) => a.time - b.time)) {
    const [, rest] = /^<\.\.\. \w+ resumed>(.*)$/.exec(text) ?? []
    const isBegun = text.endsWith(' <unfinished ...>')
    if (isBegun) begun.set(process, { text: text.slice(0, -' <unfinished ...>'.length), covers: calls.length })
    if (isBegun || /^[+-]{3} /.test(text)) continue
    const before = rest === undefined ? undefined : begun.get(process)
    if (before) begun.delete(process)
    const call = reader.read(`${before?.text ?? ''}${rest ?? text}`, trace, before?.covers ?? calls.length)
    if (call) calls.push(call)
  }
  for (const { text } of begun.values()) reader.requireHarmless(text)
  return calls
}

function linesOf(text: string, trace: number): Line[] {
  return text.split('\n').flatMap(line => {
    const [, process, time, rest = ''] = /^(\d+) +(\d+\.\d+) (.*)$/.exec(line) ?? []
    return process === undefined ? [] : [{ trace, process, time: Number(time), text: rest }]
  })
}

class CallReader {
  readonly #root: string
  /** Where the next write of a descriptor goes, by recording and number. */
  readonly #positions = new Map<string, number | 'end'>()

  constructor(root: string) {
    this.#root = root
  }

  read(text: string, trace: number, covers: number): Call | undefined {
    const [, name = '', args = '', result = '', opened] =
      /^(\w+)\((.*)\) += (\S+?)(?:<([^>]*)>.*)?(?: .*)?$/.exec(text) ?? []
    if (name === '' || /^(-|\?)/.test(result)) return undefined
    const descriptor = `${trace}:${/^\d+/.exec(args)?.[0]}`
    const path = this.#pathOf(/^\d+<([^>]*)>(?!\(deleted\))/.exec(args)?.[1])
    const [from, to] = [...args.matchAll(/"([^"]*)"/g)].map(([, quoted]) => this.#pathOf(quoted))
    switch (name) {
      case 'open':
      case 'openat':
      case 'creat': {
        this.#positions.set(`${trace}:${result}`, args.includes('O_APPEND') ? 'end' : 0)
        const made = /O_CREAT|O_TRUNC/.test(args) ? this.#pathOf(opened) : undefined
        return made === undefined ? undefined : { kind: 'open', path: made, truncates: args.includes('O_TRUNC') }
      }
      case 'write':
      case 'writev':
        if (path === undefined) return isAnswer(args) ? { kind: 'answer', trace } : undefined
        return this.#write(path, descriptor, bytesIn(args, Number(result)))
      case 'pwrite64':
        if (path === undefined) return undefined
        return { kind: 'write', path, offset: lastNumber(args), bytes: bytesIn(args, Number(result)) }
      case 'ftruncate':
        return path === undefined ? undefined : { kind: 'truncate', path, size: lastNumber(args) }
      case 'fsync':
      case 'fdatasync':
        return path === undefined ? undefined : { kind: 'sync', path, covers }
      case 'rename':
      case 'link':
        if (from !== undefined && to !== undefined) return { kind: name, path: from, to }
        break
      case 'unlink':
      case 'rmdir':
        return from === undefined ? undefined : { kind: 'remove', path: from }
      case 'mkdir':
        return from === undefined ? undefined : { kind: 'mkdir', path: from }
    }
    this.requireHarmless(text)
    return undefined
  }

  /** @throws {Error} when the call may have changed a file in the folder in a way that is not known */
  requireHarmless(text: string): void {
    // The index of the write-ahead log is shared memory: the first process that opens it makes it anew.
    const isIndex = text.startsWith('mmap(') && /2d73686d>/.test(text.replaceAll('\\x', ''))
    const isReading = text.startsWith('mmap(') && !/PROT_WRITE.*MAP_SHARED/.test(text)
    const isSync = /^f(data)?sync\(/.test(text)
    if (
      !isIndex &&
      !isReading &&
      !isSync &&
      text.replaceAll('\\x', '').includes(Buffer.from(this.#root).toString('hex'))
    )
      throw new Error(`a call that the proof cannot follow: ${text.slice(0, 300)}`)
  }

  #write(path: string, descriptor: string, bytes: Buffer): Call {
    const offset = this.#positions.get(descriptor) ?? 0
    if (offset !== 'end') this.#positions.set(descriptor, offset + bytes.length)
    return { kind: 'write', path, offset, bytes }
  }

  /** `undefined` outside the folder; the folder itself is the empty path. */
  #pathOf(quoted = ''): string | undefined {
    const path = decoded(quoted).toString()
    return `${path}/`.startsWith(this.#root) ? path.slice(this.#root.length) : undefined
  }
}

/** What goes to standard output, or to a socket as the head of a final answer. */
const isAnswer = (args: string): boolean =>
  args.startsWith('1<') || /^HTTP\/1\.1 [2-5]/.test(decoded(/"([^"]{0,40})/.exec(args)?.[1] ?? '').toString())

const lastNumber = (args: string): number => Number(args.slice(args.lastIndexOf(' ')))

/** The bytes of one or more buffers, as far as they were written. */
function bytesIn(args: string, length: number): Buffer {
  const bytes = Buffer.concat([...args.matchAll(/"([^"]*)"/g)].map(([, quoted = '']) => decoded(quoted)))
  if (bytes.length < length) throw new Error(`strace has shortened a write of ${length} bytes`)
  return bytes.subarray(0, length)
}

const decoded = (quoted: string): Buffer => Buffer.from(quoted.replaceAll('\\x', ''), 'hex')
