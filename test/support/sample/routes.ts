import type { HttpServices } from '../../../src/http/http-services.ts'
import { json, route } from '../../../src/http/interface/route.ts'
import { object } from '../../../src/http/interface/schema.ts'
import { count } from '../../../src/http/interface/shared-schemas.ts'
import type { Bells } from './bells.ts'

interface Services extends HttpServices {
  readonly bells: Bells
}

export const sampleRoutes = [
  route({
    id: 'ringBell',
    method: 'POST',
    url: '/bells/:bell',
    chapter: 'Tools',
    summary: 'Ring a bell.',
    requires: { role: 'admin', to: 'ring bells' },
    answers: { 200: json('How long it rings.', object({ strokes: count })) },
    handle: async ({ bells }: Services, { params }) => ({ strokes: await bells.ring(params.bell) }),
  }),
]
