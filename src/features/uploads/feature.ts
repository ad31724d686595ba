import { feature, offer } from '../../core/feature.ts'
import { uploadCodes } from './codes.ts'
import { lastingUploads } from './ended-uploads.ts'
import { uploadEvents } from './events.ts'
import { ResumableFiles } from './resumable-files.ts'
import { ResumableUploads } from './resumable-uploads.ts'
import { uploadRoutes } from './routes.ts'
import { uploadSteps } from './schema-steps.ts'

export const uploads = feature({
  name: 'uploads',
  settings: {
    title: 'Resumable uploads',
    rows: {},
    removed: {
      'service.upload.expires': 'a resumable upload that receives nothing for 24 hours is given up',
    },
  },
  schemaSteps: uploadSteps,
  codes: uploadCodes,
  events: uploadEvents,
  lastingUploads,
  routes: uploadRoutes,
  open: core => {
    const { files, resources } = core
    const resumableFiles = new ResumableFiles(core)
    const resumableUploads = new ResumableUploads({ ...core, resumableFiles })
    return {
      offers: offer({ files, resources, resumableUploads }, uploadRoutes),
      // If no other process uses the store, none is still adding bytes.
      recover: async isExclusive => {
        if (isExclusive) await resumableFiles.recover()
      },
      jobs: [
        ['entries without a file', () => resumableUploads.deleteUnusedEntries()],
        ['old uploads', () => resumableFiles.forgetOld()],
      ],
      stop: () => resumableUploads.close(),
    }
  },
})
