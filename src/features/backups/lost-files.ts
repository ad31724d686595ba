import { count } from '../../core/copied.ts'

/** What else than its bytes an entry gets from the backup with `--replace`, for people. */
export const ACCESS_COMES_BACK = 'Its metadata and access list are those of the backup, too.'

/** Says that a store has lost files that a backup still has, for people. */
export const tellLost = (files: number, place: string): string =>
  `The store has lost ${count(files, 'file')} that ${files === 1 ? 'is' : 'are'} in the backup. Is its disk mounted? ` +
  `If the files are lost, stop the service and run \`stowage fsck\`, which names them, and bring back each with ` +
  `\`stowage restore ${place} --entry CONTEXT/ID --replace\`. ${ACCESS_COMES_BACK}`
